import { buildRetentionPostings } from "@agent/budget";
import type { Delivery } from "@agent/federation-protocol/delivery";
import {
  beginAsk,
  beginAttempt,
  createSettlementForward,
  endAsk,
  endAttempt,
  isSettlementResolved,
  getNextStep,
  buildOutboundPayment,
  buildForwardedPayment,
  ReportedSettlementsSchema,
  SettlementAnswerSchema,
  type OutgoingSettlement,
  type ReportedSettlements,
} from "@agent/federation-protocol/settlement";
import * as v from "valibot";
import { postClearing } from "../../budget/post-clearing.ts";
import { logSettlement, recordRefund, recordSettlement } from "../../budget/record-settlement.ts";
import { releaseHold } from "../../budget/reserve-hold.ts";
import type { Tx } from "../../storage/storage.ts";
import type { FederationPeerRow } from "../../storage/tables/federation.ts";
import { recordTaskPayment } from "../../tasks/receipts/record-task-payment.ts";
import {
  publishReputation,
  type ReputationUpdate,
} from "../../tasks/receipts/record-task-outcome.ts";
import { enqueueSettled } from "../../webhooks/enqueue-task-webhooks.ts";
import { callPeer, type PeerReply } from "../transport/call-peer.ts";
import type { FederationServices } from "../federation-services.ts";
import { deleteHold } from "./hold-store.ts";
import { findOutbox, saveOutboxEntry, type OutboxEntry } from "./outbox-store.ts";
import { isPeerPayer } from "../peer-ref.ts";
import { findPeer } from "../peers/peer-store.ts";

/** Sends a settlement, or asks the peer whether it booked an earlier copy. */
export async function sendSettlement(
  services: FederationServices,
  settlementId: string,
): Promise<void> {
  const { storage, runtime, federation } = services;
  const started = await storage.transaction(async (tx) => {
    const entry = await findOutbox(tx, settlementId);
    const now = runtime.now();
    const step = entry === undefined ? null : getNextStep(entry.settlement, now);
    if (entry === undefined || step === null) return undefined;
    const beginStep = step === "forward" ? beginAttempt : beginAsk;
    const settlement = beginStep(entry.settlement, federation.schedule, now);
    await saveOutboxEntry(tx, { ...entry, settlement });
    return { step, settlement };
  });
  if (started === undefined) return;
  const { step, settlement } = started;
  const peer = await findPeer(storage.read, settlement.peerId);
  if (peer === undefined) return;
  if (step === "forward") {
    const reply = await postForward(services, peer, settlement);
    const delivery = toDelivery(reply, settlementId);
    await applyTransition(services, settlementId, reply.code ?? null, (stored) =>
      endAttempt(stored, delivery, { ...federation.schedule, now: runtime.now() }),
    );
  } else {
    const { list, delivery, code } = await fetchReportedSettlements(services, peer, settlement);
    await applyTransition(services, settlementId, code ?? null, (stored) =>
      endAsk(stored, list, { ...federation.schedule, delivery, now: runtime.now() }),
    );
  }
}

function postForward(
  services: FederationServices,
  peer: FederationPeerRow,
  settlement: OutgoingSettlement,
): Promise<PeerReply> {
  const { relayId, secretKey } = services.identity;
  return callPeer(services, peer, {
    method: "POST",
    path: "/federation/v1/settlement/forward",
    body: createSettlementForward(settlement, { self: relayId, secretKey }),
  });
}

/** Only an answer that names this settlement confirms its booking. */
function toDelivery({ delivery, body }: PeerReply, settlementId: string): Delivery {
  if (delivery.kind !== "answered" || delivery.status !== 200) return delivery;
  const answer = v.safeParse(SettlementAnswerSchema, body);
  const isAbout = answer.success && answer.output.settlement_id === settlementId;
  return isAbout ? delivery : { kind: "unknown" };
}

async function fetchReportedSettlements(
  services: FederationServices,
  peer: FederationPeerRow,
  { taskId }: OutgoingSettlement,
): Promise<Pick<PeerReply, "delivery" | "code"> & { readonly list: ReportedSettlements | null }> {
  const path = `/federation/v1/settlements?task_id=${encodeURIComponent(taskId)}`;
  const { delivery, body, code } = await callPeer(services, peer, { method: "GET", path });
  const answered = delivery.kind === "answered" && delivery.status === 200;
  const list = v.safeParse(ReportedSettlementsSchema, answered ? body : undefined);
  return { list: list.success ? list.output : null, delivery, code };
}

/** Applies a transition to an entry, and moves the money if that resolves it. */
export async function applyTransition(
  services: FederationServices,
  settlementId: string,
  lastError: string | null,
  transition: (settlement: OutgoingSettlement) => OutgoingSettlement,
  onChanged?: (tx: Tx, after: OutboxEntry) => Promise<void> | undefined,
): Promise<OutboxEntry | undefined> {
  const { storage, runtime, log, federation } = services;
  const changed = await storage.transaction(async (tx) => {
    const before = await findOutbox(tx, settlementId);
    if (before === undefined) return undefined;
    const settlement = transition(before.settlement);
    const isResolved = settlement.resolution !== before.settlement.resolution;
    const after: OutboxEntry = {
      ...before,
      settlement,
      lastError: settlement.resolution === "paid" ? null : lastError,
      endedAt: isSettlementResolved(settlement) ? (before.endedAt ?? runtime.now()) : null,
    };
    await saveOutboxEntry(tx, after);
    const isPaid = isResolved && settlement.resolution === "paid";
    const reputationUpdates = isPaid ? await recordPayment(tx, services, after) : [];
    if (isResolved && settlement.resolution === "refunded") await refundPayer(tx, services, after);
    await onChanged?.(tx, after);
    return { after, ends: isResolved, reputationUpdates };
  });
  if (changed === undefined || !changed.ends) return changed?.after;
  const { settlement, payerId } = changed.after;
  for (const reputationUpdate of changed.reputationUpdates)
    publishReputation(services, settlement.taskId, reputationUpdate);
  const logFields = {
    correlationId: settlement.taskId,
    settlement_id: settlementId,
    relay_id: settlement.peerId,
  };
  if (settlement.resolution === "paid") {
    const paid = {
      task_id: settlement.taskId,
      settlement_id: settlementId,
      status: "completed" as const,
      net: settlement.terms.net,
      fee: settlement.terms.fee,
      payer_id: payerId,
      payee_id: settlement.agentId,
    };
    logSettlement(log, paid, { relay_id: settlement.peerId });
  } else if (settlement.resolution === "refunded") {
    federation.log.warn("settlement.retry.refunded", { ...logFields, payer_id: payerId });
  } else if (settlement.resolution === "held") {
    federation.log.error("federation.settlement.held", {
      ...logFields,
      attempts: settlement.attempts,
    });
  }
  return changed.after;
}

/** Charges the payer and credits the peer once the peer has booked the settlement. */
async function recordPayment(
  tx: Tx,
  services: FederationServices,
  { settlement, payerId, locked, allocationId, feePostings = [] }: OutboxEntry,
): Promise<readonly ReputationUpdate[]> {
  const { runtime } = services;
  const { taskId, peerId, terms } = settlement;
  await deleteHold(tx, taskId);
  const entry = { taskId, description: "completed" };
  const postings = isPeerPayer(payerId)
    ? buildForwardedPayment({ peerId, taskId, amount: terms.net })
    : buildOutboundPayment({ peerId, taskId, payerId, locked, terms });
  const { rows, movesCardMoney } = await postClearing(tx, runtime, postings, entry);
  const recorded = await recordSettlement(
    tx,
    services,
    {
      taskId,
      settlementId: settlement.settlementId,
      allocationId,
      receiptHash: settlement.receiptHash,
      terms,
      payerId,
      payeeId: settlement.agentId,
      status: "completed",
      settledAt: runtime.now(),
      x402: settlement.x402,
    },
    [...feePostings, ...rows],
  );
  await enqueueSettled(tx, services, recorded, [payerId]);
  return recordTaskPayment(tx, services, {
    taskId,
    executorId: settlement.agentId,
    fee: terms.fee,
    hasCardMoney: movesCardMoney,
    peerId,
  });
}

/**
 * Returns the whole hold to the payer, because nothing was paid. A middle relay was paid itself, so its
 * operator must pay the rest out: nothing moves on a peer's account without that peer.
 */
async function refundPayer(
  tx: Tx,
  services: FederationServices,
  { settlement, payerId, locked, allocationId }: OutboxEntry,
): Promise<void> {
  const { runtime } = services;
  const { taskId } = settlement;
  await deleteHold(tx, taskId);
  const description = "settlement refunded";
  if (isPeerPayer(payerId)) {
    const postings = buildRetentionPostings({ taskId, amount: locked });
    await postClearing(tx, runtime, postings, { taskId, description });
  } else {
    await releaseHold(tx, runtime, { task_id: taskId, submitted_by: payerId, locked }, description);
  }
  const { receiptHash, agentId: payeeId } = settlement;
  const refund = { taskId, allocationId, receiptHash, payerId, payeeId };
  await enqueueSettled(tx, services, await recordRefund(tx, services, refund), [payerId]);
}
