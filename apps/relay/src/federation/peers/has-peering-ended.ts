import { isPeeringEnded } from "@agent/federation-protocol/peering";
import type { Reader } from "../../storage/storage.ts";
import { toPeerRecord } from "./peer-state.ts";
import { findPeer } from "./peer-store.ts";

/** Returns whether this relay's operator or that of a peer has ended the peering. */
export async function hasPeeringEnded(read: Reader, relayId: string): Promise<boolean> {
  const peer = await findPeer(read, relayId);
  return peer !== undefined && isPeeringEnded(toPeerRecord(peer));
}
