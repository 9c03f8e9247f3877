import { recordRelayEvent } from "../../feed/record-event.ts";
import type { Tx } from "../../storage/storage.ts";
import type { FederationPeerRow } from "../../storage/tables/federation.ts";

type RecordedState = Pick<
  FederationPeerRow,
  "relay_id" | "state" | "missed_heartbeats" | "incarnation"
>;

/** Records the changes of a peer that its operator asks about; `before` is undefined for a new one. */
export async function recordPeerChange(
  tx: Tx,
  now: number,
  before: RecordedState | undefined,
  after: RecordedState,
): Promise<void> {
  const record = (type: string, members: Record<string, number> = {}) =>
    recordRelayEvent(tx, { at: now, type, peerId: after.relay_id }, members);
  if (after.state !== before?.state) {
    await record(`peer.${after.state}`);
    tx.noteChange("peer", after.relay_id);
  }
  const { missed_heartbeats: missed, incarnation } = after;
  if (missed > (before?.missed_heartbeats ?? 0)) await record("peer.heartbeat_missed", { missed });
  if (before !== undefined && incarnation > before.incarnation) {
    await record("peer.restored", { incarnation });
  }
}
