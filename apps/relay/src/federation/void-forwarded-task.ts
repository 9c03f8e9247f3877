import { requestNotice, voidInbound, voidOutbound } from "@agent/federation-protocol/forwarding";
import type { Tx } from "../storage/storage.ts";
import type { TaskRow } from "../storage/tables/tasks.ts";
import { findInbound, getSenderEnd, saveInbound } from "./inbound/inbound-store.ts";
import { updateOutbound } from "./outbound/outbound-store.ts";
import { isFromPeer, isClaimedByPeer } from "./peer-ref.ts";

/**
 * Voids the records between relays of a task that ended without a receipt and whose hold was returned. The
 * peer that sent it is notified, unless the end that it requested has passed.
 */
export async function voidForwardedTask(
  tx: Tx,
  row: Pick<TaskRow, "task_id" | "origin_peer" | "via_peer" | "claimed_by">,
  now: number,
): Promise<void> {
  if (isClaimedByPeer(row)) await updateOutbound(tx, row.task_id, voidOutbound);
  if (isFromPeer(row)) {
    const inbound = await findInbound(tx, row.task_id);
    if (inbound === undefined) return;
    const task = requestNotice(voidInbound(inbound.task), { now, until: getSenderEnd(inbound) });
    await saveInbound(tx, { ...inbound, task });
  }
}
