import type { Reader } from "../../storage/storage.ts";
import { findInbound } from "./inbound-store.ts";

/**
 * The operator's view of a task that came from a peer: the messages that the peer has signed for it.
 */
export interface PeerTaskDetails {
  readonly relay_id: string;
  /** The state of the hold for the amount that the peer owes. */
  readonly hold: string;
  /** The peer's signed order; null once it is purged. */
  readonly order: Record<string, unknown> | null;
  /** The peer's signed acceptance of the result. */
  readonly accepted: Record<string, unknown> | null;
}

/** Returns undefined for a task that did not come from a peer. */
export async function findPeerTask(
  read: Reader,
  taskId: string,
): Promise<PeerTaskDetails | undefined> {
  const inbound = await findInbound(read, taskId);
  if (inbound === undefined) return undefined;
  const { task, forward, accepted } = inbound;
  return {
    relay_id: task.peerId,
    hold: task.hold,
    order: forward === null ? null : (JSON.parse(forward) as Record<string, unknown>),
    accepted,
  };
}
