import { fromMicro, toMicro, toDollars, ZERO } from "@agent/budget";
import { isLive, applyPeerEvent } from "@agent/federation-protocol/peering";
import {
  refundHeldSettlement,
  checkReceivable,
  buildExternalPayment,
  redriveSettlement,
} from "@agent/federation-protocol/settlement";
import { refuse, type Answer, type BodyOf, type Operations, type QueryOf } from "@agent/wire";
import { getClearingBalance, postClearing } from "../budget/post-clearing.ts";
import { recordRelayEvent } from "../feed/record-event.ts";
import { createPageAnswer, textDescending } from "../http/paging/page.ts";
import type { SaveResponse } from "../http/server/idempotency.ts";
import { applyTransition } from "./settlement/send-settlement.ts";
import { getPeerDebt } from "./exposure/get-peer-debt.ts";
import type { FederationServices } from "./federation-services.ts";
import { recordPaymentReference } from "./settlement/hold-store.ts";
import { sendRemoval } from "./peering/heartbeat.ts";
import { findOutbox, listOutbox, type OutboxEntry } from "./settlement/outbox-store.ts";
import { toPeerRecord, withPeerRecord } from "./peers/peer-state.ts";
import { findPeer, listKnownPeers, savePeer } from "./peers/peer-store.ts";
import { recordPeerChange } from "./peers/record-peer-change.ts";
import { buildPeerView, countTrafficOfDay, toPendingPeerView } from "./peers/peer-view.ts";
import { toWireRefusal } from "./transport/to-wire-refusal.ts";

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

/** Limits what this relay and a peer may come to owe each other. */
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
 * until the operator sets it. A live peer is notified; an unreachable one learns it from its
 * heartbeats.
 */
export async function removePeer(
  services: FederationServices,
  relayId: string,
): Promise<Answer<Operations["removePeer"]>> {
  const { storage, federation } = services;
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

export async function listOutboxPage(
  { storage }: FederationServices,
  query: QueryOf<Operations["listOutbox"]>,
): Promise<Answer<Operations["listOutbox"]>> {
  const { state = "" } = query;
  return createPageAnswer(query, {
    order: textDescending,
    find: (before, limit) => listOutbox(storage.read, { state, before, limit }),
    keyOf: ({ settlement }) => settlement.settlementId,
    show: (rows) => ({ settlements: rows.map(toOutboxView) }),
  });
}

/** Restarts the attempts of a settlement: the peer books an id once, so nothing is paid twice. */
export function retryOutbox(
  services: FederationServices,
  settlementId: string,
): Promise<Answer<Operations["retryOutbox"]>> {
  return resolveHeldSettlement(services, settlementId, (settlement) =>
    redriveSettlement(settlement, services.runtime.now()),
  );
}

/** Returns the hold: the operator knows that nothing was paid, or accepts the loss. */
export function giveUpOutbox(
  services: FederationServices,
  settlementId: string,
  reason: string,
  saveResponse?: SaveResponse,
): Promise<Answer<Operations["giveUpOutbox"]>> {
  return resolveHeldSettlement(services, settlementId, refundHeldSettlement, {
    reason,
    saveResponse,
  });
}

async function resolveHeldSettlement(
  services: FederationServices,
  settlementId: string,
  transition: Parameters<typeof applyTransition>[3],
  {
    reason = null,
    saveResponse,
  }: { reason?: string | null; saveResponse?: SaveResponse | undefined } = {},
): Promise<Answer<Operations["retryOutbox"]>> {
  const entry = await findOutbox(services.storage.read, settlementId);
  if (entry === undefined) return refuse("outbox.not_found");
  if (entry.settlement.resolution !== "held") return refuse("outbox.not_open");
  const after = await applyTransition(services, settlementId, reason, transition, (tx, changed) =>
    saveResponse?.(tx, { status: 200, body: toOutboxView(changed) }),
  );
  services.federation.wake();
  return { status: 200, body: toOutboxView(after ?? entry) };
}

function toOutboxView({ settlement, createdAt, endedAt, lastError }: OutboxEntry) {
  const { settlementId, taskId, peerId, agentId, terms, state, resolution } = settlement;
  return {
    settlement_id: settlementId,
    task_id: taskId,
    relay_id: peerId,
    agent_id: agentId,
    amount: toDollars(terms.net),
    state,
    refunded: resolution === "refunded",
    attempts: settlement.attempts,
    next_attempt_at: settlement.dueAt,
    last_error: lastError,
    created_at: createdAt,
    ended_at: endedAt,
  };
}
