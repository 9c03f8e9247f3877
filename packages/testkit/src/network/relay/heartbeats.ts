import {
  claimsOf,
  comparePositions,
  type Heartbeat,
  isLive,
  judgeNotice,
  movePeer,
  type Position,
  statePosition,
} from "@agent/federation-protocol";
import type { Reply } from "../links.ts";
import { positionWith } from "./line-with.ts";
import type { SimRelay } from "./sim-relay.ts";

/** One round of signs of life. Their signatures are left out: they would be most of the run. */
export function beat(relay: SimRelay): void {
  if (relay.isDown) return;
  for (const { relayId, life } of relay.store.peers.values()) {
    if (!isLive(life)) continue;
    const statedAfter = relay.now;
    const sent = heartbeatFor(relay, relayId);
    relay.send(relayId, "peer/heartbeat", sent, (delivery, body) => {
      const isAnswer = delivery.kind === "answered" && delivery.status === 200;
      if (isAnswer) hear(relay, relayId, body as Heartbeat, statedAfter);
      else if (relay.frozen === null) move(relay, relayId, { type: "heartbeat_missed" });
    });
  }
}

export function takeHeartbeat(relay: SimRelay, from: string, body: Heartbeat): Reply {
  if (!relay.isLivePeer(from)) return { status: 403 };
  // By this clock, the sender may have read its books as early as its clock may be ahead.
  const statedAfter = body.timestamp - relay.world.schedule.lifetimeMs;
  return hear(relay, from, body, statedAfter)
    ? { status: 200, body: heartbeatFor(relay, from) }
    : { status: 403 };
}

/** The peer ends the peering. */
export function takeRemoval(
  relay: SimRelay,
  from: string,
  { timestamp }: { readonly timestamp: number },
): Reply {
  if (!relay.isLivePeer(from) || !isTimely(relay, from, timestamp)) return { status: 403 };
  move(relay, from, { type: "removal", timestamp });
  return { status: 200, body: { status: "removed" } };
}

/** Changes a peer's life by what happened to it. */
export function move(relay: SimRelay, relayId: string, event: Parameters<typeof movePeer>[1]) {
  const peer = relay.peer(relayId);
  if (peer === undefined) return;
  const life = movePeer(peer.life, event);
  if (life.state !== peer.life.state) {
    relay.note(`peer ${relay.nameOf(relayId)} is ${life.state}`);
    relay.tally(`peer ${life.state}`);
  }
  relay.store.peers.set(relayId, { ...peer, life });
}

function heartbeatFor(relay: SimRelay, to: string): Heartbeat {
  return {
    relay_id: relay.id,
    timestamp: relay.now,
    agent_count: 0,
    signature: "",
    to,
    features: [],
    incarnation: relay.incarnation,
    position: statePosition(positionWith(relay, to)),
  };
}

/** While a relay is frozen it writes nothing down, but compares. */
function hear(relay: SimRelay, from: string, heartbeat: Heartbeat, statedAfter: number): boolean {
  const { timestamp } = heartbeat;
  if (!isTimely(relay, from, timestamp)) return false;
  const claims = claimsOf(heartbeat, relay.id);
  if (relay.frozen === null) {
    move(relay, from, { type: "heartbeat", timestamp, agentCount: 0, now: relay.now, claims });
  }
  if (claims?.position) compare(relay, from, claims.position, statedAfter);
  return true;
}

function isTimely(relay: SimRelay, from: string, timestamp: number): boolean {
  const peer = relay.peer(from);
  if (peer === undefined) return false;
  const { lastTimestamp } = peer.life;
  const { lifetimeMs } = relay.world.schedule;
  const { publicKey } = peer;
  const context = { from, publicKey, lastTimestamp, now: relay.now, lifetimeMs };
  return judgeNotice({ relay_id: from, timestamp }, context) === null;
}

/** Holds a peer's position against the own books; a difference is an alarm for as long as it stands. */
function compare(relay: SimRelay, peerId: string, stated: Position, statedAfter: number): void {
  const { faults, truth } = relay.world;
  const own = positionWith(relay, peerId);
  const difference = faults.comparesUnderWay
    ? comparePositions({ ...own, underWay: false }, { ...stated, underWay: false }, statedAfter)
    : comparePositions(own, stated, statedAfter);
  if (difference === null || difference === (relay.differences.get(peerId) ?? 0)) return;
  if (difference === 0 || faults.hidesDifferences) {
    relay.differences.delete(peerId);
    return;
  }
  relay.tally("position differs");
  relay.note(`books differ by ${difference} from those of ${relay.nameOf(peerId)}`);
  relay.differences.set(peerId, difference);
  if (!truth.mayDiffer(relay.id, peerId, relay.world.queue.now)) {
    relay.violate(`false alarm: books differ by ${difference} from ${relay.nameOf(peerId)}`);
  }
}
