import type { ExecutionReceipt } from "@agent/receipts";
import type { DeliverWork } from "../../execution/work.ts";
import type { Runtime } from "../../runtime.ts";
import { createPauses } from "./pauses.ts";
import { postUntilDecided, type Document } from "./post-until-decided.ts";
import type { ReceiptSender } from "./receipt-sender.ts";
import type { PendingReceipt, ReceiptStore } from "./receipt-store.ts";

export interface Outbox {
  /**
   * Posts the receipt, and its ledger before it, until the relay accepts them or refuses them for good, also
   * after a restart of the agent.
   */
  readonly deliver: DeliverWork;
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

interface OutboxParts {
  readonly sender: Pick<ReceiptSender, "post" | "postLedger">;
  readonly store: ReceiptStore;
  readonly runtime: Runtime;
}

/** Creates the outbox of receipts for the relay, with one sequence of attempts per task. */
export function createOutbox({ sender, store, runtime }: OutboxParts): Outbox {
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
    const isFinished = await postUntilDecided(listDocuments(pendingReceipt), {
      taskId,
      pauses,
      isStopped: () => stopped,
      runtime,
    });
    await saving;
    if (isFinished) await store.delete(taskId);
  }

  /** The ledger is first, because a settlement names the one that is stored when the receipt arrives. */
  function listDocuments({ receipt, ledger, targetAgentId }: PendingReceipt): readonly Document[] {
    const post = () => sender.post(receipt, targetAgentId);
    const document: Document = { name: "receipt", post };
    if (ledger === undefined) return [document];
    return [{ name: "ledger", post: () => sender.postLedger(ledger) }, document];
  }

  return {
    deliver(work, targetAgentId) {
      if (pending.has(work.receipt.task_id)) return;
      const pendingReceipt = { ...work, targetAgentId };
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
