import {
  movePeer,
  supports,
  type FederationFeature,
  type ForwardHistory,
  type PeerEvent,
  type PeerLife,
} from "@agent/federation-protocol";
import type { FederationPeerRow } from "../storage/tables/federation.ts";
import type { FederationServices } from "./federation.ts";
import { findPeer, putPeer } from "./peer-store.ts";

/** A peer's row as the rules of its life know it. */
export function lifeOf(row: FederationPeerRow): PeerLife {
  return {
    state: row.state,
    missed: row.missed_heartbeats,
    lastTimestamp: row.last_timestamp,
    lastHeartbeatAt: row.last_heartbeat_at,
    agentCount: row.agent_count,
    forwards: JSON.parse(row.forwards) as ForwardHistory,
    operatorRemoval: row.operator_removal,
    features: featuresOf(row),
    incarnation: row.incarnation,
  };
}

export function rowWith(row: FederationPeerRow, life: PeerLife): FederationPeerRow {
  return {
    ...row,
    state: life.state,
    missed_heartbeats: life.missed,
    last_timestamp: life.lastTimestamp,
    last_heartbeat_at: life.lastHeartbeatAt,
    agent_count: life.agentCount,
    forwards: JSON.stringify(life.forwards),
    operator_removal: life.operatorRemoval,
    features: JSON.stringify(life.features),
    incarnation: life.incarnation,
  };
}

function featuresOf({ features }: Pick<FederationPeerRow, "features">): readonly string[] {
  return JSON.parse(features) as string[];
}

/** Whether a peer has named a feature; what it has not named must not be used with it. */
export function peerSupports(
  row: Pick<FederationPeerRow, "features">,
  feature: FederationFeature,
): boolean {
  return supports({ features: featuresOf(row) }, feature);
}

/** Lets something happen to a peer, and tells the log when its state changed by that. */
export async function changePeer(
  { storage, federation: { log } }: Pick<FederationServices, "storage" | "federation">,
  relayId: string,
  event: PeerEvent,
): Promise<FederationPeerRow | undefined> {
  const change = await storage.transaction(async (tx) => {
    const before = await findPeer(tx, relayId);
    if (before === undefined) return undefined;
    const after = rowWith(before, movePeer(lifeOf(before), event));
    await putPeer(tx, after);
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
