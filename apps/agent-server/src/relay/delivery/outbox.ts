import type { CallRefusal } from "@agent/client";
import type { ExecutionReceipt } from "@agent/receipts";
import type { DeliverReceipt } from "../../execution/work.ts";
import type { Runtime } from "../../runtime.ts";
import { retryDelayMs } from "../retry-delay.ts";
import { createPauses } from "./pauses.ts";
import type { ReceiptSender } from "./receipt-sender.ts";
import type { PendingReceipt, ReceiptStore } from "./receipt-store.ts";

export interface Outbox {
  /** Posts the receipt until the relay has it or refuses it for good, over restarts of the agent too. */
  readonly deliver: DeliverReceipt;
  /** Takes up what the last run of the agent left. */
  readonly resume: (left: readonly PendingReceipt[]) => void;
  /** The receipt of a relay task that is still on its way. */
  readonly findReceipt: (taskId: string) => ExecutionReceipt | undefined;
  /** Ends the waits for a relay that could not be reached: it is there again. */
  readonly flush: () => void;
  /** Tries on for `graceMs` at most; what is left is sent after the next start. */
  stop(graceMs: number): Promise<void>;
  readonly size: number;
}

interface Delivery {
  readonly pendingReceipt: PendingReceipt;
  done: Promise<void>;
}

const MAX_RETRY_DELAY_MS = 60_000;

/** Receipts on their way to the relay, one line of tries per task. */
export function createOutbox(parts: {
  post: ReceiptSender["post"];
  store: ReceiptStore;
  runtime: Runtime;
}): Outbox {
  const { post, store, runtime } = parts;
  const pending = new Map<string, Delivery>();
  const pauses = createPauses(runtime);
  let stopped = false;

  function startDelivery(pendingReceipt: PendingReceipt, saved: Promise<void>): void {
    const { task_id: taskId } = pendingReceipt.receipt;
    const delivery: Delivery = { pendingReceipt, done: Promise.resolve() };
    pending.set(taskId, delivery);
    delivery.done = deliverPending(pendingReceipt, saved)
      .catch((cause: unknown) => {
        runtime.log("error", "receipt.failed", { correlationId: taskId, cause: String(cause) });
      })
      .finally(() => pending.delete(taskId));
  }

  async function deliverPending(
    pendingReceipt: PendingReceipt,
    saved: Promise<void>,
  ): Promise<void> {
    const { task_id: taskId } = pendingReceipt.receipt;
    // Whichever is first, disk or relay, saves the work: neither waits for the other.
    const saving = saved.catch((cause: unknown) => {
      runtime.log("error", "receipt.not_kept", { correlationId: taskId, cause: String(cause) });
    });
    const isFinished = await postUntilFinal(pendingReceipt);
    await saving;
    if (isFinished) await store.delete(taskId);
  }

  /** Whether nothing is left to be tried. */
  async function postUntilFinal({ receipt, targetAgentId }: PendingReceipt): Promise<boolean> {
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
      const delay = retryDelayMs(attempt, answer, { runtime, capMs: MAX_RETRY_DELAY_MS });
      await pauses.wait(delay, { unreachable: status === 0 });
    }
    return false;
  }

  return {
    deliver(receipt, targetAgentId) {
      if (pending.has(receipt.task_id)) return;
      const parcel = { receipt, targetAgentId };
      startDelivery(parcel, store.save(parcel));
    },
    resume(left) {
      for (const parcel of left) startDelivery(parcel, Promise.resolve());
    },
    findReceipt: (taskId) => pending.get(taskId)?.pendingReceipt.receipt,
    flush: () => pauses.end("unreachable"),
    async stop(graceMs) {
      const cancel = runtime.schedule(graceMs, () => {
        stopped = true;
        pauses.end("all");
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
