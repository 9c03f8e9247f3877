import type { Tx } from "../storage/storage.ts";
import { queueEvent } from "./event-store.ts";

interface RelayEventHead {
  readonly at: number;
  /** Like `task.completed`. */
  readonly type: string;
  /** The peer that the change concerns. */
  readonly peerId?: string;
}

/** Ids, words and money in USD; never a text that an agent wrote, apart from reasons. */
type EventMembers = Readonly<Record<string, string | number | null | undefined>>;

/**
 * Records a change for the operator's events in the transaction that makes it, so that the event exists if
 * and only if the change does. `numberEvents` numbers it later.
 */
export async function recordRelayEvent(
  tx: Tx,
  { at, type, peerId }: RelayEventHead,
  members: EventMembers,
): Promise<void> {
  const body = peerId === undefined ? members : { peer_id: peerId, ...members };
  await queueEvent(tx, { at, type, peer_id: peerId ?? null, body: JSON.stringify(body) });
}
