import { asMicro, fromMicro, toMicro } from "@agent/budget";
import {
  giveUp,
  isLive,
  mayBeOwed,
  movePeer,
  outsidePayment,
  redrive,
} from "@agent/federation-protocol";
import { refuse, type Answer, type BodyOf, type Operations, type QueryOf } from "@agent/wire";
import { clearingBalance, postClearing } from "../budget/clearing.ts";
import { answerPage, textDown } from "../http/page.ts";
import type { KeepAnswer } from "../http/idempotency.ts";
import { change } from "./deliver-settlement.ts";
import { debtOf } from "./debt-of.ts";
import type { FederationServices } from "./federation.ts";
import { takePayment } from "./hold-store.ts";
import { tellRemoval } from "./notices.ts";
import { findOutbox, listOutbox, type OutboxEntry } from "./outbox-store.ts";
import { lifeOf, rowWith } from "./peer-life.ts";
import { findPeer, listKnownPeers, putPeer } from "./peer-store.ts";
import { operatorView, pendingView } from "./peer-view.ts";
import { passOn } from "./refusal.ts";

export async function listForOperator(
  services: FederationServices,
): Promise<Answer<Operations["listFederationPeers"]>> {
  const known = await listKnownPeers(services.storage.read);
  const peers = await Promise.all(known.map((row) => operatorView(services, row)));
  const ids = new Set(known.map(({ relay_id }) => relay_id));
  const pending = [...services.federation.pending.values()]
    .filter(({ peer }) => !ids.has(peer.relayId))
    .map(pendingView);
  return { status: 200, body: { peers: [...peers, ...pending] } };
}

/** How much this relay and a peer may come to owe each other. */
export async function setCredit(
  services: FederationServices,
  relayId: string,
  creditLimit: number,
): Promise<Answer<Operations["setPeerCredit"]>> {
  const row = await services.storage.transaction(async (tx) => {
    const before = await findPeer(tx, relayId);
    if (before === undefined) return undefined;
    const after = { ...before, credit_limit: toMicro(creditLimit) };
    await putPeer(tx, after);
    return after;
  });
  if (row === undefined) return refuse("peer.not_found");
  return { status: 200, body: await operatorView(services, row) };
}

/**
 * Ends a peering on this side at once and for good: the relay is a peer again only when the operator
 * adds it, and has no credit until the operator sets it. A live peer is told; one that cannot be
 * reached learns it from its heartbeats.
 */
export async function removePeer(
  services: FederationServices,
  relayId: string,
): Promise<Answer<Operations["removePeer"]>> {
  const { storage, federation } = services;
  const removed = await storage.transaction(async (tx) => {
    const before = await findPeer(tx, relayId);
    if (before === undefined) return undefined;
    const life = movePeer(lifeOf(before), { type: "removal", byOperator: true });
    await putPeer(tx, rowWith({ ...before, credit_limit: 0, admitted: 0 }, life));
    return before;
  });
  if (removed === undefined) return refuse("peer.not_found");
  federation.remote.forget(relayId);
  federation.log.info("federation.peer.removed", { relay_id: relayId });
  if (isLive(removed)) await tellRemoval(services, removed);
  return { status: 200, body: { relay_id: relayId, state: "removed" } };
}

/** Records what relays paid each other outside, once per reference. */
export async function settleOutside(
  { storage, runtime }: FederationServices,
  relayId: string,
  { amount, direction, reference }: BodyOf<Operations["settlePeer"]>,
  keep?: KeepAnswer,
): Promise<Answer<Operations["settlePeer"]>> {
  return storage.transaction(async (tx) => {
    // A peering may be over and still something owed.
    const peer = await findPeer(tx, relayId);
    if (peer === undefined) return refuse("peer.not_found");
    const isNew = await takePayment(tx, { relay_id: relayId, reference });
    if (isNew && direction === "sent") {
      // What is paid beyond what is owed, the peer owes from then on.
      const credit = mayBeOwed(await debtOf(tx, peer), toMicro(amount));
      if (!credit.ok) return passOn(credit);
    }
    if (isNew) {
      const paid = direction === "sent" ? ("paid" as const) : direction;
      const postings = outsidePayment({
        peerId: relayId,
        direction: paid,
        amount: toMicro(amount),
      });
      await postClearing(tx, runtime, postings, { taskId: reference, description: direction });
    }
    const position = fromMicro(await clearingBalance(tx, relayId));
    const body = { relay_id: relayId, position, idempotent: !isNew };
    const answer = { status: 200 as const, body };
    await keep?.(tx, answer);
    return answer;
  });
}

export async function outboxPage(
  { storage }: FederationServices,
  query: QueryOf<Operations["listOutbox"]>,
): Promise<Answer<Operations["listOutbox"]>> {
  const { state = "" } = query;
  return answerPage(query, {
    order: textDown,
    find: (before, limit) => listOutbox(storage.read, { state, before, limit }),
    keyOf: ({ settlement }) => settlement.settlementId,
    show: (rows) => ({ settlements: rows.map(viewOf) }),
  });
}

/** Begins the attempts of a settlement anew: the peer books one id once, so nothing is paid twice. */
export function retryOutbox(
  services: FederationServices,
  settlementId: string,
): Promise<Answer<Operations["retryOutbox"]>> {
  return decide(services, settlementId, (settlement) =>
    redrive(settlement, services.runtime.now()),
  );
}

/** The operator knows that nothing was paid, or takes the loss: the hold goes back. */
export function giveUpOutbox(
  services: FederationServices,
  settlementId: string,
  reason: string,
  keep?: KeepAnswer,
): Promise<Answer<Operations["giveUpOutbox"]>> {
  return decide(services, settlementId, giveUp, { reason, keep });
}

async function decide(
  services: FederationServices,
  settlementId: string,
  move: Parameters<typeof change>[3],
  { reason = null, keep }: { reason?: string | null; keep?: KeepAnswer | undefined } = {},
): Promise<Answer<Operations["retryOutbox"]>> {
  const entry = await findOutbox(services.storage.read, settlementId);
  if (entry === undefined) return refuse("outbox.not_found");
  if (entry.settlement.resolution !== "held") return refuse("outbox.not_open");
  const after = await change(services, settlementId, reason, move, (tx, changed) =>
    keep?.(tx, { status: 200, body: viewOf(changed) }),
  );
  services.federation.wake();
  return { status: 200, body: viewOf(after ?? entry) };
}

function viewOf({ settlement, createdAt, endedAt, lastError }: OutboxEntry) {
  const { settlementId, taskId, peerId, agentId, terms, state, resolution } = settlement;
  return {
    settlement_id: settlementId,
    task_id: taskId,
    relay_id: peerId,
    agent_id: agentId,
    amount: fromMicro(asMicro(terms.net)),
    state,
    refunded: resolution === "refunded",
    attempts: settlement.attempts,
    next_attempt_at: settlement.dueAt,
    last_error: lastError,
    created_at: createdAt,
    ended_at: endedAt,
  };
}
