import {
  getHeartbeatClaims,
  type Heartbeat,
  isLive,
  checkNotice,
  applyPeerEvent,
} from "@agent/federation-protocol/peering";
import {
  comparePositions,
  updateDifference,
  type Position,
  toPositionMessage,
} from "@agent/federation-protocol/settlement";
import type { Reply } from "../links.ts";
import { getPosition } from "./clearing-line.ts";
import type { SimRelay } from "./sim-relay.ts";

/** Sends one heartbeat to each peer, unsigned, because signing would be most of the work of a run. */
export function sendHeartbeats(relay: SimRelay): void {
  if (relay.isDown) return;
  for (const { relayId, record } of relay.store.peers.values()) {
    if (!isLive(record)) continue;
    const statedAfter = relay.now;
    const sent = buildHeartbeat(relay, relayId);
    relay.send(relayId, "peer/heartbeat", sent, (delivery, body) => {
      const isAnswer = delivery.kind === "answered" && delivery.status === 200;
      if (isAnswer) processHeartbeat(relay, relayId, body as Heartbeat, statedAfter);
      else if (relay.frozen === null) applyEvent(relay, relayId, { type: "heartbeat_missed" });
    });
  }
}

export function receiveHeartbeat(relay: SimRelay, from: string, body: Heartbeat): Reply {
  if (!relay.isLivePeer(from)) return { status: 403 };
  // The sender may have read its books before its timestamp, by up to the maximum clock difference.
  const statedAfter = body.timestamp - relay.world.schedule.lifetimeMs;
  return processHeartbeat(relay, from, body, statedAfter)
    ? { status: 200, body: buildHeartbeat(relay, from) }
    : { status: 403 };
}

/** Ends the peering when the peer sends notice. */
export function receiveRemoval(
  relay: SimRelay,
  from: string,
  { timestamp }: { readonly timestamp: number },
): Reply {
  if (!relay.isLivePeer(from) || !isFreshNotice(relay, from, timestamp)) return { status: 403 };
  applyEvent(relay, from, { type: "removal", timestamp });
  return { status: 200, body: { status: "removed" } };
}

/** Applies an event to a peer. */
export function applyEvent(
  relay: SimRelay,
  relayId: string,
  event: Parameters<typeof applyPeerEvent>[1],
) {
  const peer = relay.peer(relayId);
  if (peer === undefined) return;
  const record = applyPeerEvent(peer.record, event);
  if (record.state !== peer.record.state) {
    relay.log(`peer ${relay.nameOf(relayId)} is ${record.state}`);
    relay.count(`peer ${record.state}`);
  }
  relay.store.peers.set(relayId, { ...peer, record });
}

function buildHeartbeat(relay: SimRelay, to: string): Heartbeat {
  return {
    relay_id: relay.id,
    timestamp: relay.now,
    agent_count: 0,
    signature: "",
    to,
    features: [],
    incarnation: relay.incarnation,
    position: toPositionMessage(getPosition(relay, to)),
  };
}

/** A frozen relay stores nothing, but compares positions. */
function processHeartbeat(
  relay: SimRelay,
  from: string,
  heartbeat: Heartbeat,
  statedAfter: number,
): boolean {
  const { timestamp } = heartbeat;
  if (!isFreshNotice(relay, from, timestamp)) return false;
  const claims = getHeartbeatClaims(heartbeat, relay.id);
  if (relay.frozen === null) {
    applyEvent(relay, from, {
      type: "heartbeat",
      timestamp,
      agentCount: 0,
      now: relay.now,
      claims,
    });
  }
  if (claims?.position) comparePosition(relay, from, claims.position, statedAfter);
  return true;
}

function isFreshNotice(relay: SimRelay, from: string, timestamp: number): boolean {
  const peer = relay.peer(from);
  if (peer === undefined) return false;
  const { lastTimestamp } = peer.record;
  const { lifetimeMs } = relay.world.schedule;
  const { publicKey } = peer;
  const context = { from, publicKey, lastTimestamp, now: relay.now, lifetimeMs };
  return checkNotice({ relay_id: from, timestamp }, context) === null;
}

/** Compares a peer's position with the relay's own books; a confirmed difference raises an alarm until it ends. */
function comparePosition(
  relay: SimRelay,
  peerId: string,
  stated: Position,
  statedAfter: number,
): void {
  const { faults, truth } = relay.world;
  const own = getPosition(relay, peerId);
  const compared = faults.comparesUnderWay
    ? comparePositions({ ...own, underWay: false }, { ...stated, underWay: false }, statedAfter)
    : comparePositions(own, stated, statedAfter);
  const { now } = relay;
  const before = relay.differences.get(peerId);
  const after = updateDifference(before, compared, { statedAfter, now });
  if (after === undefined || faults.hidesDifferences) {
    relay.differences.delete(peerId);
    return;
  }
  relay.differences.set(peerId, after);
  const difference = after.amount;
  if (!after.isConfirmed || (before?.isConfirmed && before.amount === difference)) return;
  relay.count("position differs");
  relay.log(`books differ by ${difference} from those of ${relay.nameOf(peerId)}`);
  if (!truth.mayDiffer(relay.id, peerId, relay.world.queue.now)) {
    relay.reportViolation(
      `false alarm: books differ by ${difference} from ${relay.nameOf(peerId)}`,
    );
  }
}
