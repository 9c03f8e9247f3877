import { requestCancel } from "@agent/federation-protocol/forwarding";
import type { Tx } from "../../storage/storage.ts";
import { findOutbound, saveOutbound } from "../outbound/outbound-store.ts";

/** Stores that the peer that has a task must be asked to cancel it. */
export async function enqueuePeerCancel(tx: Tx, taskId: string, now: number): Promise<void> {
  const outbound = await findOutbound(tx, taskId);
  if (outbound === undefined) return;
  const task = requestCancel(outbound.task, now);
  if (task !== outbound.task) await saveOutbound(tx, { ...outbound, task });
}
