import type { Services } from "../../services.ts";
import type { Tx } from "../../storage/storage.ts";
import type { TaskRow } from "../../storage/tables/tasks.ts";
import { cancelForwarded } from "../../tasks/assignment/claim-store.ts";
import { endWithoutReceipt } from "../../tasks/receipts/end-without-receipt.ts";
import { peerClaimRef } from "../peer-ref.ts";

/** Ends a task that a peer has and that has ended there without a receipt; undefined if it is over here. */
export async function endForwardedTask(
  tx: Tx,
  services: Pick<Services, "runtime">,
  { taskId, peerId }: { readonly taskId: string; readonly peerId: string },
): Promise<TaskRow | undefined> {
  const now = services.runtime.now();
  const row = await cancelForwarded(tx, {
    task_id: taskId,
    claimed_by: peerClaimRef(peerId),
    now,
  });
  if (row !== undefined) await endWithoutReceipt(tx, services, row, "cancelled");
  return row;
}
