import type { ExecutionReceipt } from "@agent/receipts";
import type { DeliverReceipt } from "../../execution/work.ts";
import type { Runtime } from "../../runtime.ts";
import { isFinalRefusal } from "../is-final-refusal.ts";
import { retryDelayMs } from "../retry-delay.ts";
import { createPauses } from "./pauses.ts";
import type { ReceiptSender } from "./receipt-sender.ts";
import type { PendingReceipt, ReceiptStore } from "./receipt-store.ts";

export interface Outbox {
  /**
   * Posts the receipt until the relay accepts it or refuses it for good, also after a restart of
   * the agent.
   */
  readonly deliver: DeliverReceipt;
  /** Resumes the deliveries that the last run of the agent left. */
  readonly resume: (left: readonly PendingReceipt[]) => void;
  /** Finds the receipt of a relay task that is not delivered yet. */
  readonly findReceipt: (taskId: string) => ExecutionReceipt | undefined;
  /** Ends the waits for an unreachable relay, because it is reachable again. */
  readonly flush: () => void;
  /** Continues for at most `graceMs`; remaining receipts are sent after the next start. */
  stop(graceMs: number): Promise<void>;
  readonly size: number;
}

interface Delivery {
  readonly pendingReceipt: PendingReceipt;
  done: Promise<void>;
}

const MAX_RETRY_DELAY_MS = 60_000;

interface OutboxParts {
  readonly post: ReceiptSender["post"];
  readonly store: ReceiptStore;
  readonly runtime: Runtime;
}

/** Creates the outbox of receipts for the relay, with one sequence of attempts per task. */
export function createOutbox({ post, store, runtime }: OutboxParts): Outbox {
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
    // Disk and relay do not wait for each other: the first to finish makes the receipt safe.
    const saving = saved.catch((cause: unknown) => {
      runtime.log("error", "receipt.not_kept", { correlationId: taskId, cause: String(cause) });
    });
    const isFinished = await postUntilFinal(pendingReceipt);
    await saving;
    if (isFinished) await store.delete(taskId);
  }

  /** Returns true when no further attempt is needed. */
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
      if (isFinalRefusal(answer)) {
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
      const pendingReceipt = { receipt, targetAgentId };
      startDelivery(pendingReceipt, store.save(pendingReceipt));
    },
    resume(left) {
      for (const pendingReceipt of left) startDelivery(pendingReceipt, Promise.resolve());
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
