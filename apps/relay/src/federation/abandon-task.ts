import { voidInbound, voidOutbound } from "@agent/federation-protocol";
import type { Tx } from "../storage/storage.ts";
import type { TaskRow } from "../storage/tables/tasks.ts";
import { findInbound, putInbound } from "./inbound-store.ts";
import { findOutbound, putOutbound } from "./outbound-store.ts";
import { isFromPeer, isWithPeer } from "./parties.ts";

/** A task that ends without a receipt, its hold returned, ends between relays too. */
export async function abandonTask(
  tx: Tx,
  row: Pick<TaskRow, "task_id" | "submitted_by" | "claimed_by">,
): Promise<void> {
  if (isWithPeer(row)) {
    const outbound = await findOutbound(tx, row.task_id);
    const task = outbound && voidOutbound(outbound.task);
    if (outbound !== undefined && task !== undefined && task !== outbound.task) {
      await putOutbound(tx, { ...outbound, task });
    }
  }
  if (isFromPeer(row)) {
    const inbound = await findInbound(tx, row.task_id);
    if (inbound === undefined) return;
    await putInbound(tx, { ...inbound, task: voidInbound(inbound.task) });
  }
}
