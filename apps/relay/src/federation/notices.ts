import {
  answerIsSigned,
  claimsOf,
  createHeartbeat,
  createRemoval,
  FEDERATION_LIMITS,
  judgeHeartbeat,
  judgeRemoval,
  signAnswer,
  statePosition,
  type Heartbeat,
  type HeartbeatClaims,
  type NoticeContext,
} from "@agent/federation-protocol";
import type { Answer, Operations, Refusal } from "@agent/wire";
import { countVisible } from "../agents/profile-store.ts";
import type { FederationPeerRow } from "../storage/tables/federation.ts";
import { callPeer } from "./call-peer.ts";
import type { FederationServices } from "./federation.ts";
import { underPeerKey } from "./follow-peer-key.ts";
import { comparePosition } from "./compare-position.ts";
import { OWN_FEATURES } from "./own-features.ts";
import { changePeer, peerSupports } from "./peer-life.ts";
import { listPeers } from "./peer-store.ts";
import { positionWith } from "./position-store.ts";
import { passOn } from "./refusal.ts";

type Notice<N extends "peerHeartbeat" | "removeSelf"> =
  | Answer<Operations[N]>
  | Refusal<
      "federation.wrong_sender" | "federation.timestamp_expired" | "federation.signature_invalid"
    >;

/** A peer is alive; it is told the same of this relay. */
export async function answerHeartbeat(
  services: FederationServices,
  peer: FederationPeerRow,
  body: unknown,
): Promise<Notice<"peerHeartbeat">> {
  const now = services.runtime.now();
  const judged = judgeHeartbeat(body, contextOf(peer, now));
  if (!judged.ok) return passOn(judged);
  // The gate has held the request's signature against the whole body.
  const claims = claimsOf(judged.heartbeat, services.identity.relayId);
  // By this clock, the sender may have read its books as early as its clock may be ahead.
  const statedAfter = judged.heartbeat.timestamp - FEDERATION_LIMITS.timestampAgeMs;
  await hear(services, peer, judged.heartbeat, { now, claims, statedAfter });
  const answer = await heartbeatFor(services, peer);
  const signature = signAnswer(answer, services.identity.secretKey);
  return { status: 200, body: answer, headers: { "x-relay-signature": signature } };
}

/** A peer has ended the peering. */
export async function answerRemoval(
  services: FederationServices,
  peer: FederationPeerRow,
  body: unknown,
): Promise<Notice<"removeSelf">> {
  const judged = judgeRemoval(body, contextOf(peer, services.runtime.now()));
  if (!judged.ok) return passOn(judged);
  const { timestamp } = judged.removal;
  await changePeer(services, peer.relay_id, { type: "removal", timestamp });
  services.federation.remote.forget(peer.relay_id);
  return { status: 200, body: { status: "removed" } };
}

/** Tells a peer that the peering has ended; what it answers changes nothing. */
export async function tellRemoval(
  services: FederationServices,
  peer: FederationPeerRow,
): Promise<void> {
  const { identity, federation } = services;
  const timestamp = federation.noticeTime();
  const body = createRemoval(
    { relay_id: identity.relayId, timestamp, to: peer.relay_id },
    identity.secretKey,
  );
  await callPeer(services, peer, { method: "POST", path: "/federation/v1/peer/remove", body });
}

/** Gives every peer a sign of life, and takes its answer as one of its own. */
export async function beatPeers(services: FederationServices): Promise<void> {
  const peers = await listPeers(services.storage.read);
  await Promise.all(peers.map((peer) => beat(services, peer)));
}

async function beat(services: FederationServices, peer: FederationPeerRow): Promise<void> {
  const { identity } = services;
  const path = "/federation/v1/peer/heartbeat";
  const statedAfter = services.runtime.now();
  const body = await heartbeatFor(services, peer);
  const reply = await callPeer(services, peer, { method: "POST", path, body });
  const answered = reply.delivery.kind === "answered" && reply.delivery.status === 200;
  const now = services.runtime.now();
  const { peer: signer, judged } = await underPeerKey(
    services,
    peer,
    (known) => (answered ? judgeHeartbeat(reply.body, contextOf(known, now)) : undefined),
    (found) => found?.ok === false && found.code === "federation.signature_invalid",
  );
  if (judged?.ok) {
    const isSigned = answerIsSigned(reply.body, reply.signature, signer.public_key);
    const claims = isSigned ? claimsOf(judged.heartbeat, identity.relayId) : null;
    await hear(services, peer, judged.heartbeat, { now, claims, statedAfter });
  } else if (services.freezer.frozen() === undefined) {
    const after = await changePeer(services, peer.relay_id, { type: "heartbeat_missed" });
    if (after?.state !== "active") services.federation.remote.forget(peer.relay_id);
  }
}

interface Heard {
  readonly now: number;
  readonly claims: HeartbeatClaims | null;
  readonly statedAfter: number;
}

/** A peer was heard. While this relay is frozen it writes nothing of that down, but compares. */
async function hear(
  services: FederationServices,
  { relay_id }: Pick<FederationPeerRow, "relay_id">,
  { timestamp, agent_count: agentCount }: Heartbeat,
  { now, claims, statedAfter }: Heard,
): Promise<void> {
  if (services.freezer.frozen() === undefined) {
    await changePeer(services, relay_id, { type: "heartbeat", timestamp, agentCount, now, claims });
  }
  if (claims !== null) await comparePosition(services, relay_id, claims.position, statedAfter);
}

async function heartbeatFor(
  { identity, federation, storage, freezer }: FederationServices,
  peer: Pick<FederationPeerRow, "relay_id" | "features">,
): Promise<Heartbeat> {
  const agent_count = await countVisible(storage.read);
  const { relayId: relay_id, secretKey } = identity;
  const position = peerSupports(peer, "position")
    ? { position: statePosition(await positionWith(storage.read, peer.relay_id)) }
    : {};
  const timestamp = federation.noticeTime();
  return createHeartbeat(
    {
      relay_id,
      timestamp,
      agent_count,
      to: peer.relay_id,
      features: [...OWN_FEATURES],
      incarnation: freezer.incarnation,
      ...position,
    },
    secretKey,
  );
}

function contextOf(peer: FederationPeerRow, now: number): NoticeContext {
  return {
    from: peer.relay_id,
    publicKey: peer.public_key,
    lastTimestamp: peer.last_timestamp,
    now,
  };
}
