import { toDollars } from "@agent/budget";
import { redriveSettlement, refundHeldSettlement } from "@agent/federation-protocol/settlement";
import { refuse, type Answer, type Operations, type QueryOf } from "@agent/wire";
import { createPageAnswer, textDescending } from "../../http/paging/page.ts";
import type { SaveResponse } from "../../http/server/idempotency.ts";
import type { FederationServices } from "../federation-services.ts";
import { findOutbox, listOutbox, type OutboxEntry } from "./outbox-store.ts";
import { applyTransition } from "./send-settlement.ts";

/** Lists the settlements that this relay owes, or has owed, to peers. */
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
