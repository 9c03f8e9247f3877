import type { Reader } from "../storage/storage.ts";
import { findOutbound } from "./outbound-store.ts";

/** Whether a peer has said that it has a task. */
export async function isForwarded(read: Reader, taskId: string): Promise<boolean> {
  return (await findOutbound(read, taskId))?.task.state === "forwarded";
}
