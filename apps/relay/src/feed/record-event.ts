import type { Tx } from "../storage/storage.ts";
import { queueEvent } from "./event-store.ts";

/** A change at the relay, as the operator's events show it. */
export interface NewRelayEvent {
  readonly at: number;
  /** Like `task.completed`. */
  readonly type: string;
  /** Ids, words and money in USD; never a text that an agent wrote, apart from reasons. */
  readonly [member: string]: string | number | null | undefined;
}

/**
 * Records a change in the transaction that makes it, so that the event exists if and only if the change
 * does. `numberEvents` gives it its number.
 */
export async function recordRelayEvent(
  tx: Tx,
  { at, type, ...members }: NewRelayEvent,
  peerId: string | null = null,
): Promise<void> {
  const body = peerId === null ? members : { peer_id: peerId, ...members };
  await queueEvent(tx, { at, type, peer_id: peerId, body: JSON.stringify(body) });
}
