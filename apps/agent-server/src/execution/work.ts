import { sha256Hex } from "@agent/crypto";
import type { ExecutionReceipt } from "@agent/receipts";
import type { Caller } from "../caller.ts";
import type { Runtime } from "../runtime.ts";
import type { CheckDelegation } from "./delegation/delegation-scope.ts";
import { createSingleFlight } from "./single-flight.ts";
import type { RunTask } from "./run-task.ts";
import { createRunningTasks } from "./running-tasks.ts";
import { CallCancelled, WorkWithdrawn } from "./abort-reasons.ts";

/** A task as somebody brings it. */
export interface NewWork {
  readonly prompt: string;
  readonly requiredCapabilities: readonly string[];
  readonly relayTaskId?: string;
  /** Whom the relay task was submitted to, which need not be the one who does it. */
  readonly targetAgentId?: string;
  /** A value or its JSON text, not yet judged. */
  readonly delegationToken?: unknown;
  /** Milliseconds since the Unix epoch; absent: it is submitted now. */
  readonly submittedAt?: number;
  readonly submittedBy?: string;
  readonly wallClockMs?: number;
}

/** Takes care that the relay gets a receipt; the target may be unknown to whoever did the work. */
export type DeliverReceipt = (receipt: ExecutionReceipt, targetAgentId: string | undefined) => void;

export type WorkAnswer =
  | { readonly ok: true; readonly receipt: ExecutionReceipt }
  | { readonly ok: false; readonly error: string; readonly code?: "work.withdrawn" };

/** `signed`: the receipt is there already. `stopping`: `accept` answers when it has stopped. */
export type WithdrawAnswer = "stopping" | "signed" | "unknown";

export interface Work {
  /** Runs it, or joins it when the same relay task is already running or was done. */
  accept(work: NewWork, by: { caller: Caller; signal?: AbortSignal }): Promise<WorkAnswer>;
  /** The work on a relay task, running or remembered. */
  find(relayTaskId: string): Promise<ExecutionReceipt> | undefined;
  /** Stops a running relay task: nobody waits for it any more. */
  cancel(relayTaskId: string): void;
  /** Stops a running relay task without a receipt: whoever gave it agreed to nothing being done. */
  withdraw(relayTaskId: string): WithdrawAnswer;
  /** Takes no more and lets what runs finish for `graceMs`; then it is cancelled and signed as failed. */
  stop(graceMs: number): Promise<void>;
}

/** Finished tasks whose receipts stay at hand, at most half a MiB each as a rule. */
const CACHE_SIZE = 100;

export interface WorkParts {
  readonly run: RunTask;
  readonly checkDelegation: CheckDelegation;
  readonly runtime: Runtime;
  /** Told of each receipt of a relay task: whoever asked may be gone by the time that it is there. */
  readonly deliver: DeliverReceipt | undefined;
  /** What was done before, in this run or the last, and is not delivered yet. */
  readonly undelivered?: ((relayTaskId: string) => ExecutionReceipt | undefined) | undefined;
  /** Asked when the relay closes a call, which may mean that it stops or that the task is cancelled. */
  readonly isWanted?: ((relayTaskId: string) => Promise<boolean>) | undefined;
  /** Told of work that was stopped because the relay took its call back. */
  readonly release?: ((relayTaskId: string) => Promise<void>) | undefined;
}

/** The place where every task arrives, whichever way it came. */
export function createWork(parts: WorkParts): Work {
  const {
    run,
    checkDelegation: readMandate,
    runtime,
    deliver,
    undelivered = () => undefined,
  } = parts;
  const { isWanted = async () => false, release } = parts;
  const singleFlight = createSingleFlight<ExecutionReceipt>(CACHE_SIZE);
  const running = createRunningTasks({ run, checkDelegation: readMandate, runtime });
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

  return {
    async accept(work, { caller, signal }) {
      if (closed) return { ok: false, error: "This agent is shutting down" };
      const { relayTaskId } = work;
      if (relayTaskId === undefined) {
        return { ok: true, receipt: await running.runWork(work, caller, signal) };
      }
      // A receipt that names a relay's task can end that task, so strangers do not choose its prompt.
      if (caller.kind === "agent") {
        return {
          ok: false,
          error: "relay_task_id is taken only from the home relay and the owner",
        };
      }
      const fingerprint = sha256Hex(work.prompt);
      const undeliveredReceipt = undelivered(relayTaskId);
      const answer =
        undeliveredReceipt === undefined
          ? singleFlight.run(relayTaskId, fingerprint, () => running.runWork(work, caller))
          : { ok: undeliveredReceipt.prompt_hash === fingerprint, value: undeliveredReceipt };
      if (!answer.ok) {
        return { ok: false, error: "This relay_task_id was given with another prompt before" };
      }
      // The relay may lose its connection and want the receipt nevertheless; a cancelled call it does not.
      const unlisten = onCancelled(signal, ({ byClosing }) => {
        if (byClosing && caller.kind === "relay") withdrawIfUnwanted(relayTaskId);
        else withdraw(relayTaskId);
      });
      try {
        const receipt = await answer.value;
        deliver?.(receipt, work.targetAgentId);
        return { ok: true, receipt };
      } catch (cause) {
        if (!(cause instanceof WorkWithdrawn)) throw cause;
        if (signal?.aborted === true && caller.kind === "relay") void release?.(relayTaskId);
        return { ok: false, code: "work.withdrawn", error: cause.message };
      } finally {
        unlisten();
      }
    },

    withdraw,

    find: (relayTaskId) => singleFlight.find(relayTaskId),

    cancel(relayTaskId) {
      running.abort(relayTaskId);
    },

    async stop(graceMs) {
      closed = true;
      await running.stop(graceMs);
    },
  };
}

/** Listens for the caller to take its call back, which a lost connection does not say; returns the end of it. */
function onCancelled(
  signal: AbortSignal | undefined,
  cancelled: (reason: CallCancelled) => void,
): () => void {
  const onAbort = () => {
    const reason: unknown = signal?.reason;
    if (reason instanceof CallCancelled) cancelled(reason);
  };
  signal?.addEventListener("abort", onAbort, { once: true });
  return () => signal?.removeEventListener("abort", onAbort);
}
