import type { Reader } from "../storage/storage.ts";
import { findInbound } from "./inbound-store.ts";

/** Whether a task came from a peer that is still to be brought its result. */
export async function isResultUnderWay(read: Reader, taskId: string): Promise<boolean> {
  const state = (await findInbound(read, taskId))?.task.state;
  return state === "running" || state === "returning";
}
