import { sha256Hex } from "@agent/crypto";
import type { ExecutionReceipt } from "@agent/receipts";
import type { Caller } from "../caller.ts";
import type { Runtime } from "../runtime.ts";
import type { Attempts } from "./attempts/attempts.ts";
import type { CheckDelegation } from "./delegation/delegation-scope.ts";
import { createSingleFlight } from "./single-flight.ts";
import type { RunTask } from "./run-task.ts";
import type { SignedWork } from "./sign-work.ts";
import { createRunningTasks } from "./running-tasks.ts";
import { CallCancelled, WorkWithdrawn } from "./abort-reasons.ts";
import { WorkPostponed } from "./work-postponed.ts";

/** A task as its sender describes it. */
export interface NewWork {
  readonly prompt: string;
  readonly requiredCapabilities: readonly string[];
  readonly relayTaskId?: string;
  /** The agent that the relay task was submitted to, which need not be its executor. */
  readonly targetAgentId?: string;
  /** A value or its JSON text, not yet checked. */
  readonly delegationToken?: unknown;
  /** Milliseconds since the Unix epoch; absent: the task is submitted now. */
  readonly submittedAt?: number;
  readonly submittedBy?: string;
  /** In US dollars. */
  readonly estimatedCost?: number;
  readonly wallClockMs?: number;
}

/**
 * Delivers signed work to the relay; the executor may not know the target agent. Resolves, and never rejects,
 * when the caller may have the receipt: the relay pays when it gets that, and the settlement names the ledger
 * that is stored by then.
 */
export type DeliverWork = (work: SignedWork, targetAgentId: string | undefined) => Promise<void>;

export type WorkAnswer =
  | { readonly ok: true; readonly receipt: ExecutionReceipt }
  | { readonly ok: false; readonly error: string; readonly code?: "work.withdrawn" };

/**
 * `signed`: the receipt exists already. `stopping`: `accept` resolves when the work has stopped.
 */
export type WithdrawAnswer = "stopping" | "signed" | "unknown";

export interface Work {
  /** Runs the task, or joins it when the same relay task runs or has finished. */
  accept(work: NewWork, by: { caller: Caller; signal?: AbortSignal }): Promise<WorkAnswer>;
  /** Finds the work on a relay task that runs or is remembered. */
  find(relayTaskId: string): Promise<ExecutionReceipt> | undefined;
  /** Stops a running relay task because its result is no longer needed. */
  cancel(relayTaskId: string): void;
  /** Stops a running relay task without a receipt, because its sender withdrew it. */
  withdraw(relayTaskId: string): WithdrawAnswer;
  /**
   * Refuses new tasks and gives running ones `graceMs`; then they are cancelled and signed as
   * failed.
   */
  stop(graceMs: number): Promise<void>;
}

/** The number of finished tasks whose receipts stay in memory, usually at most half a MiB each. */
const CACHE_SIZE = 100;

export interface WorkParts {
  readonly run: RunTask;
  readonly checkDelegation: CheckDelegation;
  readonly runtime: Runtime;
  /** Counts the attempts at relay tasks; absent: they are not counted. */
  readonly attempts?: Attempts | undefined;
  /** Receives the signed work of each relay task, because its caller may be gone by then. */
  readonly deliver: DeliverWork | undefined;
  /** Finds a receipt of this run or the last that is not delivered yet. */
  readonly undelivered?: ((relayTaskId: string) => ExecutionReceipt | undefined) | undefined;
  /** Asked when the relay closes a call: either the relay stops or the task was cancelled. */
  readonly isWanted?: ((relayTaskId: string) => Promise<boolean>) | undefined;
  /** Called after work was stopped because the relay cancelled its call. */
  readonly release?: ((relayTaskId: string) => Promise<void>) | undefined;
}

/** Creates the entry point of all tasks, independent of their transport. */
export function createWork(parts: WorkParts): Work {
  const { run, checkDelegation, attempts, runtime, deliver, undelivered = () => undefined } = parts;
  const { isWanted = async () => false, release } = parts;
  const singleFlight = createSingleFlight<SignedWork>(CACHE_SIZE);
  const running = createRunningTasks({ run, checkDelegation, attempts, runtime });
  let closed = false;

  function withdraw(relayTaskId: string): WithdrawAnswer {
    if (running.abort(relayTaskId, new WorkWithdrawn())) return "stopping";
    const isSigned = (singleFlight.find(relayTaskId) ?? undelivered(relayTaskId)) !== undefined;
    return isSigned ? "signed" : "unknown";
  }

  function withdrawIfUnwanted(relayTaskId: string): void {
    void isWanted(relayTaskId).then((wanted) => {
      if (!wanted) withdraw(relayTaskId);
    });
  }

  /** Starts the work on a relay task, unless it runs or has a receipt that is not delivered yet. */
  function joinWork(relayTaskId: string, work: NewWork, caller: Caller) {
    const fingerprint = sha256Hex(work.prompt);
    const receipt = undelivered(relayTaskId);
    return receipt === undefined
      ? singleFlight.run(relayTaskId, fingerprint, () => running.runWork(work, caller))
      : { ok: receipt.prompt_hash === fingerprint, value: { receipt } };
  }

  return {
    async accept(work, { caller, signal }) {
      if (closed) return { ok: false, error: "This agent is shutting down" };
      const { relayTaskId } = work;
      if (relayTaskId === undefined) {
        return running
          .runWork(work, caller, signal)
          .then(({ receipt }): WorkAnswer => ({ ok: true, receipt }), refusePostponed);
      }
      // A receipt that names a relay's task can end that task, so only its relay and the owner may
      // choose the prompt.
      if (caller.kind === "agent") return NOT_FROM_RELAY;
      const answer = joinWork(relayTaskId, work, caller);
      if (!answer.ok) {
        return { ok: false, error: "This relay_task_id was used with another prompt before" };
      }
      // After a lost connection the relay may still need the receipt; after a cancelled call it
      // does not.
      const unlisten = listenForCancel(signal, ({ byClosing }) => {
        if (byClosing && caller.kind === "relay") withdrawIfUnwanted(relayTaskId);
        else withdraw(relayTaskId);
      });
      try {
        const signed = await answer.value;
        await deliver?.(signed, work.targetAgentId);
        return { ok: true, receipt: signed.receipt };
      } catch (cause) {
        if (!(cause instanceof WorkWithdrawn)) return refusePostponed(cause);
        if (signal?.aborted === true && caller.kind === "relay") void release?.(relayTaskId);
        return { ok: false, code: "work.withdrawn", error: cause.message };
      } finally {
        unlisten();
      }
    },

    withdraw,

    find: (relayTaskId) => singleFlight.find(relayTaskId)?.then(({ receipt }) => receipt),

    cancel(relayTaskId) {
      running.abort(relayTaskId);
    },

    async stop(graceMs) {
      closed = true;
      await running.stop(graceMs);
    },
  };
}

const NOT_FROM_RELAY: WorkAnswer = {
  ok: false,
  error: "relay_task_id is accepted only from the agent's relay and the owner",
};

/** Answers for work without a receipt, which its sender may offer again. */
function refusePostponed(cause: unknown): WorkAnswer {
  if (cause instanceof WorkPostponed) return { ok: false, error: cause.message };
  throw cause;
}

/**
 * Listens for a cancellation by the caller, as opposed to a lost connection; returns a function
 * that stops listening.
 */
function listenForCancel(
  signal: AbortSignal | undefined,
  onCancel: (reason: CallCancelled) => void,
): () => void {
  const onAbort = () => {
    const reason: unknown = signal?.reason;
    if (reason instanceof CallCancelled) onCancel(reason);
  };
  signal?.addEventListener("abort", onAbort, { once: true });
  return () => signal?.removeEventListener("abort", onAbort);
}
