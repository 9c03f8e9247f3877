import { asMicro, type Micro } from "@agent/budget";
import {
  answerProposal,
  answerToProposal,
  concludeHandshake,
  type Confirmation,
  FEDERATION_LIMITS,
  type Introduction,
  isLive,
  judgeConfirmation,
  judgeNotice,
  movePeer,
  NEW_PEER,
  type Proposal,
  propose,
} from "@agent/federation-protocol";
import type { Reply } from "../links.ts";
import type { SimRelay } from "./sim-relay.ts";

/** The operator peers with another relay; credit limits outlive a removal. */
export function shakeHands(relay: SimRelay, peerId: string): void {
  if (relay.isDown || relay.isLivePeer(peerId)) return;
  const expected = relay.world.relays.get(peerId);
  if (expected === undefined) return;
  const { random } = relay.world;
  const begun = propose(introductionOf(relay), random.randomBytes(32));
  relay.send(peerId, "peer/propose", begun.message, (_, answer) => {
    const confirming = answerProposal(begun.state, answer, {
      expected: { relayId: peerId, publicKey: expected.publicKey },
      secretKey: relay.secretKey,
    });
    if (!confirming.ok) return;
    relay.send(peerId, "peer/confirm", confirming.message, (__, end) => {
      const done = concludeHandshake(confirming.state, end);
      if (done.ok) activate(relay, done.peer);
    });
  });
}

export function takeProposal(relay: SimRelay, _: string, body: Proposal): Reply {
  const live = [...relay.store.peers.values()].filter(({ life }) => isLive(life));
  const answered = answerToProposal(body, {
    self: introductionOf(relay),
    policy: { blocked: [], allowed: null, maxPeers: FEDERATION_LIMITS.maxPeers },
    standingOf: (relayId) => {
      const known = relay.peer(relayId);
      return {
        known: known ? { ...known.life, publicKey: known.publicKey } : null,
        livePeers: live.length,
      };
    },
    nonce: relay.world.random.randomBytes(32),
    secretKey: relay.secretKey,
    now: relay.now,
  });
  if (!answered.ok) return relay.refuse(answered);
  relay.store.pending.set(body.relay_id, answered.pending);
  return { status: 200, body: answered.answer };
}

export function takeConfirmation(relay: SimRelay, from: string, body: Confirmation): Reply {
  const judged = judgeConfirmation(relay.store.pending.get(from) ?? null, body, relay.now);
  relay.store.pending.delete(from);
  if (!judged.ok) return relay.refuse(judged);
  activate(relay, judged.peer);
  return { status: 200, body: judged.answer };
}

/** One round of signs of life. Their signatures are left out: they would be most of the run. */
export function beat(relay: SimRelay): void {
  if (relay.isDown) return;
  for (const { relayId, life } of relay.store.peers.values()) {
    if (!isLive(life)) continue;
    relay.send(relayId, "peer/heartbeat", { timestamp: relay.now }, (delivery, body) => {
      const isAnswer = delivery.kind === "answered" && delivery.status === 200;
      if (isAnswer) hear(relay, relayId, body as SignOfLife);
      else move(relay, relayId, { type: "heartbeat_missed" });
    });
  }
}

export function takeHeartbeat(relay: SimRelay, from: string, body: SignOfLife): Reply {
  if (!relay.isLivePeer(from)) return { status: 403 };
  return hear(relay, from, body)
    ? { status: 200, body: { timestamp: relay.now } satisfies SignOfLife }
    : { status: 403 };
}

interface SignOfLife {
  readonly timestamp: number;
}

function hear(relay: SimRelay, from: string, { timestamp }: SignOfLife): boolean {
  const peer = relay.peer(from);
  if (peer === undefined) return false;
  const { lastTimestamp } = peer.life;
  const refused = judgeNotice(
    { relay_id: from, timestamp },
    {
      from,
      publicKey: peer.publicKey,
      lastTimestamp,
      now: relay.now,
      lifetimeMs: relay.world.schedule.lifetimeMs,
    },
  );
  if (refused !== null) return false;
  move(relay, from, { type: "heartbeat", timestamp, agentCount: 0, now: relay.now });
  return true;
}

function move(relay: SimRelay, relayId: string, event: Parameters<typeof movePeer>[1]): void {
  const peer = relay.peer(relayId);
  if (peer === undefined) return;
  const life = movePeer(peer.life, event);
  if (life.state !== peer.life.state) {
    relay.note(`peer ${relay.nameOf(relayId)} is ${life.state}`);
    relay.tally(`peer ${life.state}`);
  }
  relay.store.peers.set(relayId, { ...peer, life });
}

function activate(relay: SimRelay, { relayId, publicKey }: Introduction): void {
  const known = relay.peer(relayId);
  const limit = known?.limit ?? relay.world.random.pick(LIMITS);
  const life = movePeer(known?.life ?? NEW_PEER, { type: "confirmed" });
  relay.store.peers.set(relayId, { relayId, publicKey, limit, life });
}

const LIMITS = [2e6, 10e6, 1e9, 1e9].map(asMicro) as [Micro, ...Micro[]];

function introductionOf(relay: SimRelay): Introduction {
  const { id: relayId, publicKey, name } = relay;
  return { relayId, publicKey, endpointUrl: `http://${name}.example`, displayName: name };
}
