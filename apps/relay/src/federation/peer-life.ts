import {
  movePeer,
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
  };
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
  if (after.state !== before.state) {
    const level = after.state === "active" ? "info" : "warn";
    log[level](`federation.peer.${after.state}`, { relay_id: relayId });
  }
  return after;
}
