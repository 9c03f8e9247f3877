import type { PeerState } from "@agent/wire";
import { type ForwardHistory, isCircuitOpen, recordForwardOutcome } from "./circuit-breaker.ts";
import { filterKnownFeatures } from "../features.ts";
import type { HeartbeatClaims } from "./heartbeat.ts";
import { FEDERATION_LIMITS } from "../limits.ts";

/** What a relay keeps of a peer's life; who it is, is kept beside it. */
export interface PeerRecord {
  readonly state: PeerState;
  /** Heartbeats of ours in a row that were not answered. */
  readonly missedHeartbeats: number;
  /** The latest time that the peer has signed, by its own clock, in ms; it only grows. */
  readonly lastTimestamp: number;
  /** By the keeping relay's clock, in ms; null before the first. */
  readonly lastHeartbeatAt: number | null;
  readonly agentCount: number;
  readonly forwards: ForwardHistory;
  readonly operatorRemoval: OperatorRemoval;
  /** What the peer named last under its signature (`supportsFeature`). */
  readonly features: readonly string[];
  /** The highest incarnation that the peer has named. */
  readonly incarnation: number;
}

/**
 * What is left of a removal by the operator: `in_force` until the operator admits the peer again, and
 * `lifted` for good after that, because its credit limit stays the operator's to set.
 */
export type OperatorRemoval = "in_force" | "lifted" | null;

/** What happens to a peering. */
export type PeerEvent =
  /** A handshake is complete; `byOperator`: this relay's own operator asked for it. */
  | {
      readonly type: "confirmed";
      readonly byOperator?: boolean;
      readonly features?: readonly string[];
    }
  /** A heartbeat of the peer's, or its answer to ours. */
  | {
      readonly type: "heartbeat";
      readonly timestamp: number;
      readonly agentCount: number;
      readonly now: number;
      /** Null where nothing more of it may be believed; what is known then stays. */
      readonly claims?: Pick<HeartbeatClaims, "features" | "incarnation"> | null;
    }
  | { readonly type: "heartbeat_missed" }
  | { readonly type: "forward"; readonly succeeded: boolean }
  /** The peer ended the peering by a notice with its `timestamp`, or this relay's operator did. */
  | { readonly type: "removal"; readonly timestamp?: number; readonly byOperator?: boolean }
  /** This relay's operator admits the peer again, which from then on may also propose by itself. */
  | { readonly type: "admitted" };

/** A peer before its handshake. */
export const NEW_PEER: PeerRecord = {
  state: "pending",
  missedHeartbeats: 0,
  lastTimestamp: 0,
  lastHeartbeatAt: null,
  agentCount: 0,
  forwards: [],
  operatorRemoval: null,
  features: [],
  incarnation: 0,
};

/**
 * The life of a peer after an event (specification, "Relay peer"): 3 missed heartbeats or a broken
 * forward path suspend it, a heartbeat revives it, 5 missed ones or a notice remove it. A removed
 * peer stays removed until a new handshake is confirmed, which only the operator can begin for one
 * that the operator removed.
 */
export function applyPeerEvent(peer: PeerRecord, event: PeerEvent): PeerRecord {
  if (event.type === "confirmed") {
    if (isRemovedByOperator(peer) && event.byOperator !== true) return peer;
    const operatorRemoval = peer.operatorRemoval === null ? null : "lifted";
    const { lastTimestamp, incarnation } = peer;
    const features = filterKnownFeatures(event.features ?? []);
    return {
      ...NEW_PEER,
      state: "active",
      lastTimestamp,
      operatorRemoval,
      features,
      incarnation,
    };
  }
  if (event.type === "admitted") {
    return isRemovedByOperator(peer) ? { ...peer, operatorRemoval: "lifted" } : peer;
  }
  if (event.type === "removal") {
    const lastTimestamp = Math.max(peer.lastTimestamp, event.timestamp ?? 0);
    const operatorRemoval = event.byOperator === true ? "in_force" : peer.operatorRemoval;
    return { ...peer, state: "removed", lastTimestamp, operatorRemoval };
  }
  if (!isLive(peer)) return peer;
  switch (event.type) {
    case "heartbeat":
      return {
        ...peer,
        state: "active",
        missedHeartbeats: 0,
        lastTimestamp: Math.max(peer.lastTimestamp, event.timestamp),
        lastHeartbeatAt: event.now,
        agentCount: event.agentCount,
        // A peer that comes back is judged by what it does from then on.
        forwards: peer.state === "suspended" ? [] : peer.forwards,
        features: event.claims ? filterKnownFeatures(event.claims.features) : peer.features,
        incarnation: Math.max(peer.incarnation, event.claims?.incarnation ?? 0),
      };
    case "heartbeat_missed":
      return {
        ...peer,
        missedHeartbeats: peer.missedHeartbeats + 1,
        state: stateAfterMissedHeartbeat(peer),
      };
    case "forward": {
      const forwards = recordForwardOutcome(peer.forwards, event.succeeded);
      return { ...peer, forwards, state: isCircuitOpen(forwards) ? "suspended" : peer.state };
    }
  }
}

/** Whether only this relay's operator can make a peer of it again. */
export function isRemovedByOperator({
  operatorRemoval,
}: Pick<PeerRecord, "operatorRemoval">): boolean {
  return operatorRemoval === "in_force";
}

/** Whether a peer's signed requests count: removed and pending ones have to shake hands first. */
export function isLive({ state }: Pick<PeerRecord, "state">): boolean {
  return state === "active" || state === "suspended";
}

/** Whether a peer may be asked, sent work or listed in answers: suspended ones are left out. */
export function isUsable({ state }: Pick<PeerRecord, "state">): boolean {
  return state === "active";
}

function stateAfterMissedHeartbeat({ missedHeartbeats: missed, state }: PeerRecord): PeerState {
  if (missed + 1 >= FEDERATION_LIMITS.missedHeartbeatsToRemove) return "removed";
  return missed + 1 >= FEDERATION_LIMITS.missedHeartbeatsToSuspend ? "suspended" : state;
}
