import type { Reader } from "../../storage/storage.ts";
import { findInbound } from "./inbound-store.ts";

/**
 * Returns whether a result must still be sent to the peer that the task came from. After a restore a peer
 * that has accepted the result but not settled yet receives it again, and it must then be the signed one.
 */
export async function isResultPending(read: Reader, taskId: string): Promise<boolean> {
  const task = (await findInbound(read, taskId))?.task;
  if (task === undefined) return false;
  const { state, hold, amount } = task;
  const isUnsettled = state === "completed" && amount > 0 && (hold === "open" || hold === "due");
  return state === "running" || state === "returning" || isUnsettled;
}
