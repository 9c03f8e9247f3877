import type { CallRefusal } from "@agent/client";
import type { ExecutionReceipt } from "@agent/receipts";
import type { Deliver } from "../execution/work.ts";
import type { Runtime } from "../runtime.ts";
import { retryDelayMs } from "./backoff.ts";
import type { ReceiptPost } from "./post-receipt.ts";
import type { Parcel, ReceiptStore } from "./receipt-store.ts";

export interface Outbox {
  /** Posts the receipt until the relay has it or refuses it for good, over restarts of the agent too. */
  readonly deliver: Deliver;
  /** Takes up what the last run of the agent left. */
  readonly resume: (left: readonly Parcel[]) => void;
  /** The receipt of a relay task that is still on its way. */
  readonly find: (taskId: string) => ExecutionReceipt | undefined;
  /** Ends the waits for a relay that could not be reached: it is there again. */
  readonly hurry: () => void;
  /** Tries on for `graceMs` at most; what is left is sent after the next start. */
  stop(graceMs: number): Promise<void>;
  readonly size: number;
}

interface Delivery {
  readonly parcel: Parcel;
  done: Promise<void>;
}

const capMs = 60_000;

/** Receipts on their way to the relay, one line of tries per task. */
export function createOutbox(parts: {
  post: ReceiptPost["post"];
  store: ReceiptStore;
  runtime: Runtime;
}): Outbox {
  const { post, store, runtime } = parts;
  const pending = new Map<string, Delivery>();
  const waiting = new Map<() => void, { readonly unreachable: boolean }>();
  let stopped = false;

  function begin(parcel: Parcel, kept: Promise<void>): void {
    const { task_id: taskId } = parcel.receipt;
    const delivery: Delivery = { parcel, done: Promise.resolve() };
    pending.set(taskId, delivery);
    delivery.done = run(parcel, kept)
      .catch((cause: unknown) => {
        runtime.log("error", "receipt.failed", { correlationId: taskId, cause: String(cause) });
      })
      .finally(() => pending.delete(taskId));
  }

  async function run(parcel: Parcel, kept: Promise<void>): Promise<void> {
    const { task_id: taskId } = parcel.receipt;
    // Whichever is first, disk or relay, saves the work: neither waits for the other.
    const keeping = kept.catch((cause: unknown) => {
      runtime.log("error", "receipt.not_kept", { correlationId: taskId, cause: String(cause) });
    });
    const isOver = await push(parcel);
    await keeping;
    if (isOver) await store.forget(taskId);
  }

  /** Whether nothing is left to be tried. */
  async function push({ receipt, targetAgentId }: Parcel): Promise<boolean> {
    const { task_id: taskId } = receipt;
    for (let attempt = 0; !stopped; attempt++) {
      const answer = await post(receipt, targetAgentId);
      if (answer.ok) {
        const { status } = answer;
        runtime.log("info", "receipt.delivered", { correlationId: taskId, status });
        return true;
      }
      const { code, status } = answer;
      if (isFinal(answer)) {
        runtime.log("error", "receipt.refused", { correlationId: taskId, code, status });
        return true;
      }
      runtime.log("debug", "receipt.retry", { correlationId: taskId, code, status });
      await pause(retryDelayMs(attempt, answer, { runtime, capMs }), status === 0);
    }
    return false;
  }

  function pause(ms: number, unreachable: boolean): Promise<void> {
    return new Promise((resolve) => {
      const end = () => {
        cancel();
        waiting.delete(end);
        resolve();
      };
      const cancel = runtime.schedule(ms, end);
      waiting.set(end, { unreachable });
    });
  }

  return {
    deliver(receipt, targetAgentId) {
      if (pending.has(receipt.task_id)) return;
      const parcel = { receipt, targetAgentId };
      begin(parcel, store.keep(parcel));
    },
    resume(left) {
      for (const parcel of left) begin(parcel, Promise.resolve());
    },
    find: (taskId) => pending.get(taskId)?.parcel.receipt,
    hurry() {
      for (const [end, { unreachable }] of waiting) if (unreachable) end();
    },
    async stop(graceMs) {
      const cancel = runtime.schedule(graceMs, () => {
        stopped = true;
        for (const end of waiting.keys()) end();
      });
      await Promise.allSettled([...pending.values()].map(({ done }) => done));
      cancel();
    },
    get size() {
      return pending.size;
    },
  };
}

/**
 * Whether trying again can change nothing. A relay that forgot this agent or its token gets another
 * chance: the agent registers again meanwhile.
 */
function isFinal({ code, status }: CallRefusal): boolean {
  if (code.startsWith("auth.")) return code === "auth.not_owner";
  return status >= 400 && status < 500 && status !== 408 && status !== 429;
}
