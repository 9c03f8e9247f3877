import type { PeerState } from "@agent/wire";
import { type ForwardHistory, isCircuitOpen, recordForwardOutcome } from "./circuit-breaker.ts";
import { filterKnownFeatures } from "../features.ts";
import type { HeartbeatClaims } from "./heartbeat.ts";
import { FEDERATION_LIMITS } from "../limits.ts";

/** The stored state of a peer; its identity is stored beside it. */
export interface PeerRecord {
  readonly state: PeerState;
  /** The number of this relay's latest consecutive heartbeats that were not answered. */
  readonly missedHeartbeats: number;
  /** The latest time that the peer has signed, in ms since the epoch by its own clock; it only grows. */
  readonly lastTimestamp: number;
  /** In ms since the epoch by this relay's clock; null before the first heartbeat. */
  readonly lastHeartbeatAt: number | null;
  readonly agentCount: number;
  readonly forwards: ForwardHistory;
  /** Whether the operator removed it, so that only the operator can restore the peering. */
  readonly removedByOperator: boolean;
  /** The features that the peer last named in a signed message (`supportsFeature`). */
  readonly features: readonly string[];
  /** The highest incarnation that the peer has named. */
  readonly incarnation: number;
}

/** An event of a peering. */
export type PeerEvent =
  /** A completed handshake; `byOperator` if this relay's own operator requested it. */
  | {
      readonly type: "confirmed";
      readonly byOperator?: boolean;
      readonly features?: readonly string[];
    }
  /** A heartbeat of the peer or its answer to one; times in ms since the epoch. */
  | {
      readonly type: "heartbeat";
      /** By the peer's clock. */
      readonly timestamp: number;
      readonly agentCount: number;
      /** By this relay's clock. */
      readonly now: number;
      /** Null if its other members are not trusted; the known values then stay. */
      readonly claims?: Pick<HeartbeatClaims, "features" | "incarnation"> | null;
    }
  | { readonly type: "heartbeat_missed" }
  | { readonly type: "forward"; readonly succeeded: boolean }
  /**
   * A removal: by the peer's notice with its `timestamp` (ms since the epoch, by the peer's clock), or by
   * this relay's operator.
   */
  | { readonly type: "removal"; readonly timestamp?: number; readonly byOperator?: boolean }
  /** The operator admits the peer again, which may then also propose by itself. */
  | { readonly type: "admitted" };

/** A peer before its handshake. */
export const NEW_PEER: PeerRecord = {
  state: "pending",
  missedHeartbeats: 0,
  lastTimestamp: 0,
  lastHeartbeatAt: null,
  agentCount: 0,
  forwards: [],
  removedByOperator: false,
  features: [],
  incarnation: 0,
};

/**
 * Applies an event to a peer (specification, "Relay peer"). 3 missed heartbeats or an open circuit
 * suspend it, a heartbeat reactivates it, 5 missed ones or a notice remove it. A removed peer stays
 * removed until a new handshake is confirmed; after a removal by the operator only the operator can
 * begin one.
 */
export function applyPeerEvent(peer: PeerRecord, event: PeerEvent): PeerRecord {
  if (event.type === "confirmed") {
    if (peer.removedByOperator && event.byOperator !== true) return peer;
    const { lastTimestamp, incarnation } = peer;
    const features = filterKnownFeatures(event.features ?? []);
    return { ...NEW_PEER, state: "active", lastTimestamp, features, incarnation };
  }
  if (event.type === "admitted") {
    return { ...peer, removedByOperator: false };
  }
  if (event.type === "removal") {
    const lastTimestamp = Math.max(peer.lastTimestamp, event.timestamp ?? 0);
    const removedByOperator = event.byOperator === true || peer.removedByOperator;
    return { ...peer, state: "removed", lastTimestamp, removedByOperator };
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
        // A reactivated peer starts with an empty history.
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

/**
 * Returns whether all signed requests of a peer are accepted; removed and pending peers need a handshake
 * first.
 */
export function isLive({ state }: Pick<PeerRecord, "state">): boolean {
  return state === "active" || state === "suspended";
}

/**
 * Returns whether a peer may still conclude tasks that were sent before the peering ended, by a result, a cancel or
 * a settlement. A removal ends what is to come; otherwise a relay could avoid paying for work that had begun by
 * ending the peering, and one that wants to pay could not.
 */
export function mayConcludeTasks({ state }: Pick<PeerRecord, "state">): boolean {
  return state !== "pending";
}

/**
 * Returns whether requests and tasks may be sent to a peer and its agents listed; suspended peers
 * are excluded.
 */
export function isUsable({ state }: Pick<PeerRecord, "state">): boolean {
  return state === "active";
}

/**
 * Returns whether an operator ended the peering: this relay's own, or the peer's, which sends a notice. Only that
 * operator can begin it again, so until then no work begins for the peer, which may refuse all results. A peer that
 * missed its heartbeats did not end the peering.
 */
export function isPeeringEnded({
  state,
  removedByOperator,
  missedHeartbeats,
}: Pick<PeerRecord, "state" | "removedByOperator" | "missedHeartbeats">): boolean {
  const hasLeft = missedHeartbeats < FEDERATION_LIMITS.missedHeartbeatsToRemove;
  return removedByOperator || (state === "removed" && hasLeft);
}

function stateAfterMissedHeartbeat({ missedHeartbeats: missed, state }: PeerRecord): PeerState {
  if (missed + 1 >= FEDERATION_LIMITS.missedHeartbeatsToRemove) return "removed";
  return missed + 1 >= FEDERATION_LIMITS.missedHeartbeatsToSuspend ? "suspended" : state;
}
