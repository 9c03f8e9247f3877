import type { Reader } from "../../storage/storage.ts";
import { findOutbound } from "./outbound-store.ts";
import { toPeerRecord } from "../peers/peer-state.ts";
import { findPeer } from "../peers/peer-store.ts";

/**
 * Whether a peer has confirmed that it has a task, and must deliver it: a peer that the operator has removed may,
 * but the operator has ended the cooperation.
 */
export async function isForwardConfirmed(read: Reader, taskId: string): Promise<boolean> {
  const outbound = await findOutbound(read, taskId);
  if (outbound?.task.state !== "forwarded") return false;
  const peer = await findPeer(read, outbound.task.peerId);
  return peer !== undefined && !toPeerRecord(peer).removedByOperator;
}
