import { expireInbound, expireOutbound } from "@agent/federation-protocol";
import type { Runtime } from "../runtime.ts";
import type { Tx } from "../storage/storage.ts";
import type { TaskRow } from "../storage/tables/tasks.ts";
import { findInbound, putInbound } from "./inbound-store.ts";
import { findOutbound, putOutbound } from "./outbound-store.ts";
import { isFromPeer, isWithPeer } from "./parties.ts";

/** A task that ends without a receipt, its hold returned, ends between relays too. */
export async function abandonTask(
  tx: Tx,
  runtime: Pick<Runtime, "now">,
  row: Pick<TaskRow, "task_id" | "submitted_by" | "claimed_by">,
): Promise<void> {
  const now = runtime.now();
  if (isWithPeer(row)) {
    const outbound = await findOutbound(tx, row.task_id);
    const task = outbound && expireOutbound(outbound.task, Math.max(now, outbound.task.expiresAt));
    if (outbound !== undefined && task !== undefined && task !== outbound.task) {
      await putOutbound(tx, { ...outbound, task });
    }
  }
  if (isFromPeer(row)) {
    const inbound = await findInbound(tx, row.task_id);
    if (inbound === undefined) return;
    const task = expireInbound(inbound.task, Math.max(now, inbound.task.expiresAt));
    await putInbound(tx, { ...inbound, task });
  }
}
