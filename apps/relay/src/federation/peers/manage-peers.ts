import { fromMicro, toMicro, ZERO } from "@agent/budget";
import { isLive, applyPeerEvent } from "@agent/federation-protocol/peering";
import { checkReceivable, buildExternalPayment } from "@agent/federation-protocol/settlement";
import { refuse, type Answer, type BodyOf, type Operations } from "@agent/wire";
import { getClearingBalance, postClearing } from "../../budget/post-clearing.ts";
import { recordRelayEvent } from "../../feed/record-event.ts";
import type { SaveResponse } from "../../http/server/idempotency.ts";
import { getPeerDebt } from "../exposure/get-peer-debt.ts";
import type { FederationServices } from "../federation-services.ts";
import type { Services } from "../../services.ts";
import { peerPayerRef } from "../peer-ref.ts";
import { recordPaymentReference } from "../settlement/hold-store.ts";
import { sendRemoval } from "../peering/heartbeat.ts";
import { toPeerRecord, withPeerRecord } from "./peer-state.ts";
import { findPeer, listKnownPeers, savePeer } from "./peer-store.ts";
import { recordPeerChange } from "./record-peer-change.ts";
import { buildPeerView, countTrafficOfDay, toPendingPeerView } from "./peer-view.ts";
import { toWireRefusal } from "../transport/to-wire-refusal.ts";

/** Lists every relay that was ever a peer, and those that have proposed to become one. */
export async function listFederationPeers(
  services: FederationServices,
): Promise<Answer<Operations["listFederationPeers"]>> {
  const known = await listKnownPeers(services.storage.read);
  const traffic = await countTrafficOfDay(services);
  const peers = await Promise.all(known.map((row) => buildPeerView(services, row, traffic)));
  const ids = new Set(known.map(({ relay_id }) => relay_id));
  const pending = (await services.federation.pendingPeers.list())
    .filter(({ peer }) => !ids.has(peer.relayId))
    .map(toPendingPeerView);
  return { status: 200, body: { peers: [...peers, ...pending] } };
}

/** Sets the maximum that this relay and a peer may owe each other. */
export async function setPeerCredit(
  services: FederationServices,
  relayId: string,
  creditLimit: number,
): Promise<Answer<Operations["setPeerCredit"]>> {
  const row = await services.storage.transaction(async (tx) => {
    const before = await findPeer(tx, relayId);
    if (before === undefined) return undefined;
    const after = { ...before, credit_limit: toMicro(creditLimit), credit_set: 1 as const };
    await savePeer(tx, after);
    return after;
  });
  if (row === undefined) return refuse("peer.not_found");
  return { status: 200, body: await buildPeerView(services, row) };
}

/**
 * Ends a peering on this side at once: only the operator can add the relay again, and it has no credit
 * until the operator sets it. Its tasks that no executor has begun are cancelled. A live peer is notified;
 * an unreachable one learns it from its heartbeats.
 */
export async function removePeer(
  services: FederationServices & Pick<Services, "router">,
  relayId: string,
): Promise<Answer<Operations["removePeer"]>> {
  const { storage, federation, router } = services;
  const removed = await storage.transaction(async (tx) => {
    const before = await findPeer(tx, relayId);
    if (before === undefined) return undefined;
    const record = applyPeerEvent(toPeerRecord(before), { type: "removal", byOperator: true });
    const shut = { ...before, credit_limit: ZERO, credit_set: 1 as const, admitted: 0 as const };
    const after = withPeerRecord(shut, record);
    await savePeer(tx, after);
    await recordPeerChange(tx, services.runtime.now(), before, after);
    return before;
  });
  if (removed === undefined) return refuse("peer.not_found");
  federation.remoteAgents.purgePeer(relayId);
  router.reassignAllOf(peerPayerRef(relayId));
  federation.log.info("federation.peer.removed", { relay_id: relayId });
  if (isLive(removed)) await sendRemoval(services, removed);
  return { status: 200, body: { relay_id: relayId, state: "removed" } };
}

/** Records a payment between relays outside of this system, once per reference. */
export async function settlePeer(
  { storage, runtime }: FederationServices,
  relayId: string,
  { amount, direction, reference }: BodyOf<Operations["settlePeer"]>,
  saveResponse?: SaveResponse,
): Promise<Answer<Operations["settlePeer"]>> {
  return storage.transaction(async (tx) => {
    // Something may still be owed after the peering has ended.
    const peer = await findPeer(tx, relayId);
    if (peer === undefined) return refuse("peer.not_found");
    const isNew = await recordPaymentReference(tx, { relay_id: relayId, reference });
    if (isNew && direction === "sent") {
      // A payment beyond the debt becomes a debt of the peer.
      const credit = checkReceivable(await getPeerDebt(tx, peer), toMicro(amount));
      if (!credit.ok) return toWireRefusal(credit);
    }
    if (isNew) {
      const paid = direction === "sent" ? ("paid" as const) : direction;
      const postings = buildExternalPayment({
        peerId: relayId,
        direction: paid,
        amount: toMicro(amount),
      });
      await postClearing(tx, runtime, postings, { taskId: reference, description: direction });
      const event = { at: runtime.now(), type: "money.peer_paid", peerId: relayId };
      await recordRelayEvent(tx, event, { amount, direction, reference });
    }
    const position = fromMicro(await getClearingBalance(tx, relayId));
    const body = { relay_id: relayId, position, idempotent: !isNew };
    const answer = { status: 200 as const, body };
    await saveResponse?.(tx, answer);
    return answer;
  });
}
