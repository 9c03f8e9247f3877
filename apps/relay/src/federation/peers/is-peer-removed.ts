import type { Reader } from "../../storage/storage.ts";
import { toPeerRecord } from "./peer-state.ts";
import { findPeer } from "./peer-store.ts";

/** Returns whether the operator has removed a peer, so that its messages are refused. */
export async function isPeerRemoved(read: Reader, relayId: string): Promise<boolean> {
  const peer = await findPeer(read, relayId);
  return peer !== undefined && toPeerRecord(peer).removedByOperator;
}
