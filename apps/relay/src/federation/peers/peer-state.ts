import { supportsFeature, type FederationFeature } from "@agent/federation-protocol";
import {
  applyPeerEvent,
  type ForwardHistory,
  type PeerEvent,
  type PeerRecord,
} from "@agent/federation-protocol/peering";
import type { FederationPeerRow } from "../../storage/tables/federation.ts";
import type { FederationServices } from "../federation-services.ts";
import { findPeer, savePeer } from "./peer-store.ts";
import { recordPeerChange } from "./record-peer-change.ts";

/** Converts a peer's row to the record of the protocol's state machine. */
export function toPeerRecord(row: FederationPeerRow): PeerRecord {
  return {
    state: row.state,
    missedHeartbeats: row.missed_heartbeats,
    lastTimestamp: row.last_timestamp,
    lastHeartbeatAt: row.last_heartbeat_at,
    agentCount: row.agent_count,
    forwards: JSON.parse(row.forwards) as ForwardHistory,
    removedByOperator: row.operator_removal !== null,
    features: parseFeatures(row),
    incarnation: row.incarnation,
  };
}

export function withPeerRecord(row: FederationPeerRow, record: PeerRecord): FederationPeerRow {
  return {
    ...row,
    state: record.state,
    missed_heartbeats: record.missedHeartbeats,
    last_timestamp: record.lastTimestamp,
    last_heartbeat_at: record.lastHeartbeatAt,
    agent_count: record.agentCount,
    forwards: JSON.stringify(record.forwards),
    operator_removal: record.removedByOperator ? "in_force" : null,
    features: JSON.stringify(record.features),
    incarnation: record.incarnation,
  };
}

function parseFeatures({ features }: Pick<FederationPeerRow, "features">): readonly string[] {
  return JSON.parse(features) as string[];
}

/** Whether a peer has named a feature; one that it has not named must not be used with it. */
export function peerSupports(
  row: Pick<FederationPeerRow, "features">,
  feature: FederationFeature,
): boolean {
  return supportsFeature({ features: parseFeatures(row) }, feature);
}

/** Applies an event to a peer, and logs changes of its state. */
export async function recordPeerEvent(
  {
    storage,
    runtime,
    federation: { log },
  }: Pick<FederationServices, "storage" | "runtime" | "federation">,
  relayId: string,
  event: PeerEvent,
): Promise<FederationPeerRow | undefined> {
  const change = await storage.transaction(async (tx) => {
    const before = await findPeer(tx, relayId);
    if (before === undefined) return undefined;
    const after = withPeerRecord(before, applyPeerEvent(toPeerRecord(before), event));
    await savePeer(tx, after);
    await recordPeerChange(tx, runtime.now(), before, after);
    return { before, after };
  });
  if (change === undefined) return undefined;
  const { before, after } = change;
  if (event.type === "heartbeat_missed" && after.missed_heartbeats > before.missed_heartbeats) {
    log.warn("federation.heartbeat.missed", {
      relay_id: relayId,
      missed: after.missed_heartbeats,
    });
  }
  if (after.incarnation > before.incarnation) {
    log.warn("federation.peer.restored", { relay_id: relayId, incarnation: after.incarnation });
  }
  if (after.state !== before.state) {
    const level = after.state === "active" ? "info" : "warn";
    log[level](`federation.peer.${after.state}`, { relay_id: relayId });
  }
  return after;
}
