import { voidInbound, voidOutbound } from "@agent/federation-protocol";
import type { Tx } from "../storage/storage.ts";
import type { TaskRow } from "../storage/tables/tasks.ts";
import { findInbound, saveInbound } from "./inbound/inbound-store.ts";
import { findOutbound, saveOutbound } from "./outbound/outbound-store.ts";
import { isFromPeer, isClaimedByPeer } from "./peer-ref.ts";

/** A task that ends without a receipt, its hold returned, ends between relays too. */
export async function voidForwardedTask(
  tx: Tx,
  row: Pick<TaskRow, "task_id" | "origin_peer" | "via_peer" | "claimed_by">,
): Promise<void> {
  if (isClaimedByPeer(row)) {
    const outbound = await findOutbound(tx, row.task_id);
    const task = outbound && voidOutbound(outbound.task);
    if (outbound !== undefined && task !== undefined && task !== outbound.task) {
      await saveOutbound(tx, { ...outbound, task });
    }
  }
  if (isFromPeer(row)) {
    const inbound = await findInbound(tx, row.task_id);
    if (inbound === undefined) return;
    await saveInbound(tx, { ...inbound, task: voidInbound(inbound.task) });
  }
}
