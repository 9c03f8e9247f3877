import type { Reader } from "../../storage/storage.ts";
import { findInbound } from "./inbound-store.ts";

/**
 * Whether a task came from a peer that is still to be brought its result. One that has accepted it and not
 * settled yet is brought it again after a restore, and then it has to be the signed one.
 */
export async function isResultPending(read: Reader, taskId: string): Promise<boolean> {
  const task = (await findInbound(read, taskId))?.task;
  if (task === undefined) return false;
  const { state, hold, amount } = task;
  const isUnsettled = state === "completed" && amount > 0 && (hold === "open" || hold === "due");
  return state === "running" || state === "returning" || isUnsettled;
}
