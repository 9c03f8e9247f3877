import { FEDERATION_FEATURES, FEDERATION_LIMITS } from "@agent/federation-protocol";
import {
  getHeartbeatClaims,
  createHeartbeat,
  createRemoval,
  verifyHeartbeat,
  verifyRemoval,
  type Heartbeat,
  type HeartbeatClaims,
  type NoticeContext,
} from "@agent/federation-protocol/peering";
import { toPositionMessage } from "@agent/federation-protocol/settlement";
import { isAnswerSigned, signAnswer } from "@agent/federation-protocol/signing";
import type { PeerOperations } from "@agent/federation-protocol/http";
import type { Answer, Refusal } from "@agent/wire";
import type { Services } from "../../services.ts";
import { countVisibleAgents } from "../../agents/discovery/profile-store.ts";
import type { FederationPeerRow } from "../../storage/tables/federation.ts";
import { callPeer } from "../transport/call-peer.ts";
import type { FederationServices } from "../federation-services.ts";
import { verifyWithPeerKey } from "../peers/peer-key.ts";
import { comparePosition } from "../exposure/compare-position.ts";
import { peerPayerRef } from "../peer-ref.ts";
import { recordPeerEvent, peerSupports } from "../peers/peer-state.ts";
import { listPeers } from "../peers/peer-store.ts";
import { getPeerPosition } from "../exposure/position-store.ts";
import { toWireRefusal } from "../transport/to-wire-refusal.ts";

type NoticeAnswer<N extends "peerHeartbeat" | "removeSelf"> =
  | Answer<PeerOperations[N]>
  | Refusal<
      "federation.wrong_sender" | "federation.timestamp_expired" | "federation.signature_invalid"
    >;

/** Records a peer's heartbeat, and answers with this relay's own. */
export async function receiveHeartbeat(
  services: FederationServices,
  peer: FederationPeerRow,
  body: unknown,
): Promise<NoticeAnswer<"peerHeartbeat">> {
  const now = services.runtime.now();
  const checked = verifyHeartbeat(body, buildNoticeContext(peer, now));
  if (!checked.ok) return toWireRefusal(checked);
  // Authentication has checked the request's signature against the whole body.
  const claims = getHeartbeatClaims(checked.heartbeat, services.identity.relayId);
  // The sender's clock may be ahead, so by this clock it may have read its books that much earlier.
  const statedAfter = checked.heartbeat.timestamp - FEDERATION_LIMITS.maxTimestampAgeMs;
  await recordHeartbeat(services, peer, checked.heartbeat, { now, claims, statedAfter });
  const answer = await buildHeartbeat(services, peer);
  const signature = signAnswer(answer, services.identity.secretKey);
  return { status: 200, body: answer, headers: { "x-relay-signature": signature } };
}

/** Records that a peer has ended the peering, and cancels its tasks that no executor has begun. */
export async function receiveRemoval(
  services: FederationServices & Pick<Services, "router">,
  peer: FederationPeerRow,
  body: unknown,
): Promise<NoticeAnswer<"removeSelf">> {
  const checked = verifyRemoval(body, buildNoticeContext(peer, services.runtime.now()));
  if (!checked.ok) return toWireRefusal(checked);
  const { timestamp } = checked.removal;
  await recordPeerEvent(services, peer.relay_id, { type: "removal", timestamp });
  services.federation.remoteAgents.purgePeer(peer.relay_id);
  services.router.reassignAllOf(peerPayerRef(peer.relay_id));
  return { status: 200, body: { status: "removed" } };
}

/** Notifies a peer that the peering has ended; its answer changes nothing. */
export async function sendRemoval(
  services: FederationServices,
  peer: FederationPeerRow,
): Promise<void> {
  const { identity, federation } = services;
  const timestamp = await federation.nextNoticeTime();
  const body = createRemoval(
    { relay_id: identity.relayId, timestamp, to: peer.relay_id },
    identity.secretKey,
  );
  await callPeer(services, peer, { method: "POST", path: "/federation/v1/peer/remove", body });
}

/** Sends a heartbeat to every peer, and records the answers as their heartbeats. */
export async function sendHeartbeats(services: FederationServices): Promise<void> {
  const peers = await listPeers(services.storage.read);
  await Promise.all(peers.map((peer) => sendHeartbeat(services, peer)));
}

async function sendHeartbeat(services: FederationServices, peer: FederationPeerRow): Promise<void> {
  const { identity } = services;
  const path = "/federation/v1/peer/heartbeat";
  const statedAfter = services.runtime.now();
  const body = await buildHeartbeat(services, peer);
  const reply = await callPeer(services, peer, { method: "POST", path, body });
  const answered = reply.delivery.kind === "answered" && reply.delivery.status === 200;
  const now = services.runtime.now();
  const { peer: signer, checked } = await verifyWithPeerKey(
    services,
    peer,
    (known) => (answered ? verifyHeartbeat(reply.body, buildNoticeContext(known, now)) : undefined),
    (found) => found?.ok === false && found.code === "federation.signature_invalid",
  );
  if (checked?.ok) {
    const isSigned = isAnswerSigned(reply.body, reply.signature, signer.public_key);
    const claims = isSigned ? getHeartbeatClaims(checked.heartbeat, identity.relayId) : null;
    await recordHeartbeat(services, peer, checked.heartbeat, { now, claims, statedAfter });
  } else if (services.freezer.frozen() === undefined) {
    const after = await recordPeerEvent(services, peer.relay_id, { type: "heartbeat_missed" });
    if (after?.state !== "active") services.federation.remoteAgents.purgePeer(peer.relay_id);
  }
}

interface HeardHeartbeat {
  readonly now: number;
  readonly claims: HeartbeatClaims | null;
  readonly statedAfter: number;
}

/** Records a heartbeat. A frozen relay stores nothing, but still compares the positions. */
async function recordHeartbeat(
  services: FederationServices,
  { relay_id }: Pick<FederationPeerRow, "relay_id">,
  { timestamp, agent_count: agentCount }: Heartbeat,
  { now, claims, statedAfter }: HeardHeartbeat,
): Promise<void> {
  if (services.freezer.frozen() === undefined) {
    await recordPeerEvent(services, relay_id, {
      type: "heartbeat",
      timestamp,
      agentCount,
      now,
      claims,
    });
  }
  if (claims !== null) await comparePosition(services, relay_id, claims.position, statedAfter);
}

async function buildHeartbeat(
  { identity, federation, storage, freezer }: FederationServices,
  peer: Pick<FederationPeerRow, "relay_id" | "features">,
): Promise<Heartbeat> {
  const agent_count = await countVisibleAgents(storage.read);
  const { relayId: relay_id, secretKey } = identity;
  const position = peerSupports(peer, "position")
    ? { position: toPositionMessage(await getPeerPosition(storage.read, peer.relay_id)) }
    : {};
  const timestamp = await federation.nextNoticeTime();
  return createHeartbeat(
    {
      relay_id,
      timestamp,
      agent_count,
      to: peer.relay_id,
      features: [...FEDERATION_FEATURES],
      incarnation: freezer.incarnation,
      ...position,
    },
    secretKey,
  );
}

function buildNoticeContext(peer: FederationPeerRow, now: number): NoticeContext {
  return {
    from: peer.relay_id,
    publicKey: peer.public_key,
    lastTimestamp: peer.last_timestamp,
    now,
  };
}
