import type { ReceiptStore } from "../../relay/delivery/receipt-store.ts";
import type { Attempts } from "./attempts.ts";

/**
 * Ends the attempts at a task once its receipt is on disk, from where the next run of the agent delivers it, or, if
 * the disk did not keep it, once the relay has decided about it.
 */
export function endAttemptsWith(
  store: ReceiptStore,
  attempts: Pick<Attempts, "end">,
): ReceiptStore {
  return {
    load: () => store.load(),
    async save(pendingReceipt) {
      await store.save(pendingReceipt);
      attempts.end(pendingReceipt.receipt.task_id);
    },
    async delete(taskId) {
      await store.delete(taskId);
      attempts.end(taskId);
    },
  };
}
