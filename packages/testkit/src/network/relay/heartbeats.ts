import {
  getHeartbeatClaims,
  type Heartbeat,
  isLive,
  checkNotice,
  applyPeerEvent,
} from "@agent/federation-protocol/peering";
import {
  comparePositions,
  type Position,
  toPositionMessage,
} from "@agent/federation-protocol/settlement";
import type { Reply } from "../links.ts";
import { getPosition } from "./clearing-line.ts";
import type { SimRelay } from "./sim-relay.ts";

/** One round of signs of life. Their signatures are left out: they would be most of the run. */
export function sendHeartbeats(relay: SimRelay): void {
  if (relay.isDown) return;
  for (const { relayId, life } of relay.store.peers.values()) {
    if (!isLive(life)) continue;
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
  // By this clock, the sender may have read its books as early as its clock may be ahead.
  const statedAfter = body.timestamp - relay.world.schedule.lifetimeMs;
  return processHeartbeat(relay, from, body, statedAfter)
    ? { status: 200, body: buildHeartbeat(relay, from) }
    : { status: 403 };
}

/** The peer ends the peering. */
export function receiveRemoval(
  relay: SimRelay,
  from: string,
  { timestamp }: { readonly timestamp: number },
): Reply {
  if (!relay.isLivePeer(from) || !isFreshNotice(relay, from, timestamp)) return { status: 403 };
  applyEvent(relay, from, { type: "removal", timestamp });
  return { status: 200, body: { status: "removed" } };
}

/** Changes a peer's life by what happened to it. */
export function applyEvent(
  relay: SimRelay,
  relayId: string,
  event: Parameters<typeof applyPeerEvent>[1],
) {
  const peer = relay.peer(relayId);
  if (peer === undefined) return;
  const life = applyPeerEvent(peer.life, event);
  if (life.state !== peer.life.state) {
    relay.log(`peer ${relay.nameOf(relayId)} is ${life.state}`);
    relay.count(`peer ${life.state}`);
  }
  relay.store.peers.set(relayId, { ...peer, life });
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

/** While a relay is frozen it writes nothing down, but compares. */
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
  const { lastTimestamp } = peer.life;
  const { lifetimeMs } = relay.world.schedule;
  const { publicKey } = peer;
  const context = { from, publicKey, lastTimestamp, now: relay.now, lifetimeMs };
  return checkNotice({ relay_id: from, timestamp }, context) === null;
}

/** Holds a peer's position against the own books; a difference is an alarm for as long as it stands. */
function comparePosition(
  relay: SimRelay,
  peerId: string,
  stated: Position,
  statedAfter: number,
): void {
  const { faults, truth } = relay.world;
  const own = getPosition(relay, peerId);
  const difference = faults.comparesUnderWay
    ? comparePositions({ ...own, underWay: false }, { ...stated, underWay: false }, statedAfter)
    : comparePositions(own, stated, statedAfter);
  if (difference === null || difference === (relay.differences.get(peerId) ?? 0)) return;
  if (difference === 0 || faults.hidesDifferences) {
    relay.differences.delete(peerId);
    return;
  }
  relay.count("position differs");
  relay.log(`books differ by ${difference} from those of ${relay.nameOf(peerId)}`);
  relay.differences.set(peerId, difference);
  if (!truth.mayDiffer(relay.id, peerId, relay.world.queue.now)) {
    relay.reportViolation(
      `false alarm: books differ by ${difference} from ${relay.nameOf(peerId)}`,
    );
  }
}
