import { sha256Hex, uuidV7 } from "@agent/crypto";
import type { ExecutionReceipt } from "@agent/receipts";
import type { Caller } from "../caller.ts";
import type { Runtime } from "../runtime.ts";
import type { ReadMandate } from "./mandate.ts";
import { createOnce } from "./once.ts";
import type { RunTask } from "./run-task.ts";
import type { WorkTask } from "./task.ts";
import { CallCancelled, WorkWithdrawn } from "./withdrawn.ts";

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
export type Deliver = (receipt: ExecutionReceipt, targetAgentId: string | undefined) => void;

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
const remembered = 100;

/** The place where every task arrives, whichever way it came. */
export function createWork(parts: {
  run: RunTask;
  readMandate: ReadMandate;
  runtime: Runtime;
  /** Told of each receipt of a relay task: whoever asked may be gone by the time that it is there. */
  deliver: Deliver | undefined;
  /** What was done before, in this run or the last, and is not delivered yet. */
  undelivered?: ((relayTaskId: string) => ExecutionReceipt | undefined) | undefined;
  /** Asked when the relay closes a call, which may mean that it stops or that the task is cancelled. */
  isWanted?: ((relayTaskId: string) => Promise<boolean>) | undefined;
}): Work {
  const { run, readMandate, runtime, deliver, undelivered = () => undefined } = parts;
  const { isWanted = async () => false } = parts;
  const once = createOnce<ExecutionReceipt>(remembered);
  const stopping = new AbortController();
  const cancelable = new Map<string, AbortController>();
  const unfinished = new Set<Promise<ExecutionReceipt>>();
  let closed = false;

  async function start(
    work: NewWork,
    caller: Caller,
    signal?: AbortSignal,
  ): Promise<ExecutionReceipt> {
    const task = toTask(work);
    const own = new AbortController();
    const signals = [stopping.signal, own.signal, ...(signal === undefined ? [] : [signal])];
    const cancel = AbortSignal.any(signals);
    const running = readMandate(work.delegationToken, task).then(({ refusal, ...mandate }) =>
      run({ ...task, ...mandate }, { caller, cancel, ...(refusal !== undefined && { refusal }) }),
    );
    cancelable.set(task.taskId, own);
    unfinished.add(running);
    try {
      return await running;
    } finally {
      cancelable.delete(task.taskId);
      unfinished.delete(running);
    }
  }

  function toTask(work: NewWork): WorkTask {
    const now = runtime.now();
    const { relayTaskId, submittedBy, wallClockMs } = work;
    return {
      taskId: relayTaskId ?? uuidV7(now, runtime.randomBytes(10)),
      ...(relayTaskId !== undefined && { relayTaskId }),
      prompt: work.prompt,
      requiredCapabilities: work.requiredCapabilities,
      submittedAt: work.submittedAt ?? now,
      ...(submittedBy !== undefined && { submittedBy }),
      ...(wallClockMs !== undefined && { wallClockMs }),
    };
  }

  function withdraw(relayTaskId: string): WithdrawAnswer {
    const running = cancelable.get(relayTaskId);
    if (running !== undefined) {
      running.abort(new WorkWithdrawn());
      return "stopping";
    }
    const isSigned = (once.find(relayTaskId) ?? undelivered(relayTaskId)) !== undefined;
    return isSigned ? "signed" : "unknown";
  }

  function withdrawUnlessWanted(relayTaskId: string): void {
    void isWanted(relayTaskId).then((wanted) => {
      if (!wanted) withdraw(relayTaskId);
    });
  }

  return {
    async accept(work, { caller, signal }) {
      if (closed) return { ok: false, error: "This agent is shutting down" };
      const { relayTaskId } = work;
      if (relayTaskId === undefined) {
        return { ok: true, receipt: await start(work, caller, signal) };
      }
      // A receipt that names a relay's task can end that task, so strangers do not choose its prompt.
      if (caller.kind === "agent") {
        return {
          ok: false,
          error: "relay_task_id is taken only from the home relay and the owner",
        };
      }
      const fingerprint = sha256Hex(work.prompt);
      const done = undelivered(relayTaskId);
      const answer =
        done === undefined
          ? once.run(relayTaskId, fingerprint, () => start(work, caller))
          : { ok: done.prompt_hash === fingerprint, value: done };
      if (!answer.ok) {
        return { ok: false, error: "This relay_task_id was given with another prompt before" };
      }
      // The relay may lose its connection and want the receipt nevertheless; a cancelled call it does not.
      const onAbort = () => {
        const reason: unknown = signal?.reason;
        if (!(reason instanceof CallCancelled)) return;
        if (reason.byClosing && caller.kind === "relay") withdrawUnlessWanted(relayTaskId);
        else withdraw(relayTaskId);
      };
      signal?.addEventListener("abort", onAbort, { once: true });
      try {
        const receipt = await answer.value;
        deliver?.(receipt, work.targetAgentId);
        return { ok: true, receipt };
      } catch (cause) {
        if (!(cause instanceof WorkWithdrawn)) throw cause;
        return { ok: false, code: "work.withdrawn", error: cause.message };
      } finally {
        signal?.removeEventListener("abort", onAbort);
      }
    },

    withdraw,

    find: (relayTaskId) => once.find(relayTaskId),

    cancel(relayTaskId) {
      cancelable.get(relayTaskId)?.abort();
    },

    async stop(graceMs) {
      closed = true;
      const cancel = runtime.schedule(graceMs, () => stopping.abort());
      await Promise.allSettled(unfinished);
      cancel();
    },
  };
}
