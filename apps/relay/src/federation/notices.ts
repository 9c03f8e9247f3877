import {
  createHeartbeat,
  createRemoval,
  judgeHeartbeat,
  judgeRemoval,
  type NoticeContext,
} from "@agent/federation-protocol";
import type { Answer, Operations, Refusal } from "@agent/wire";
import { countVisible } from "../agents/profile-store.ts";
import type { FederationPeerRow } from "../storage/tables/federation.ts";
import { callPeer } from "./call-peer.ts";
import type { FederationServices } from "./federation.ts";
import { changePeer } from "./peer-life.ts";
import { listPeers } from "./peer-store.ts";
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
  const { timestamp, agent_count: agentCount } = judged.heartbeat;
  await changePeer(services, peer.relay_id, { type: "heartbeat", timestamp, agentCount, now });
  return { status: 200, body: await heartbeatFor(services, peer) };
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
  const path = "/federation/v1/peer/heartbeat";
  const body = await heartbeatFor(services, peer);
  const reply = await callPeer(services, peer, { method: "POST", path, body });
  const answered = reply.delivery.kind === "answered" && reply.delivery.status === 200;
  const now = services.runtime.now();
  const judged = answered ? judgeHeartbeat(reply.body, contextOf(peer, now)) : undefined;
  if (judged?.ok) {
    const { timestamp, agent_count: agentCount } = judged.heartbeat;
    await changePeer(services, peer.relay_id, { type: "heartbeat", timestamp, agentCount, now });
  } else {
    const after = await changePeer(services, peer.relay_id, { type: "heartbeat_missed" });
    if (after?.state !== "active") services.federation.remote.forget(peer.relay_id);
  }
}

async function heartbeatFor(
  { identity, federation, storage }: FederationServices,
  peer: Pick<FederationPeerRow, "relay_id">,
) {
  const agent_count = await countVisible(storage.read);
  const { relayId: relay_id, secretKey } = identity;
  const timestamp = federation.noticeTime();
  return createHeartbeat({ relay_id, timestamp, agent_count, to: peer.relay_id }, secretKey);
}

function contextOf(peer: FederationPeerRow, now: number): NoticeContext {
  return {
    from: peer.relay_id,
    publicKey: peer.public_key,
    lastTimestamp: peer.last_timestamp,
    now,
  };
}
