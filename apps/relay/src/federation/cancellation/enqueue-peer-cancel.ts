import { requestCancel } from "@agent/federation-protocol/forwarding";
import type { Tx } from "../../storage/storage.ts";
import { updateOutbound } from "../outbound/outbound-store.ts";

/** Stores that the peer that has a task must be asked to cancel it. */
export async function enqueuePeerCancel(tx: Tx, taskId: string, now: number): Promise<void> {
  await updateOutbound(tx, taskId, (task) => requestCancel(task, now));
}
