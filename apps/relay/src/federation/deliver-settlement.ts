import { asMicro, fromMicro, unpassedPostings } from "@agent/budget";
import {
  beginAsk,
  beginAttempt,
  createSettlement,
  endAsk,
  endAttempt,
  isSettlementOver,
  nextStep,
  outboundPaid,
  passedOn,
  ReportedSettlementsSchema,
  SettlementAnswerSchema,
  type Delivery,
  type OutgoingSettlement,
  type ReportedSettlements,
} from "@agent/federation-protocol";
import * as v from "valibot";
import { postClearing, recordSettlement } from "../budget/clearing.ts";
import { releaseHold } from "../budget/hold.ts";
import { newId } from "../runtime.ts";
import type { Tx } from "../storage/storage.ts";
import type { FederationPeerRow } from "../storage/tables/federation.ts";
import { countPayment } from "../tasks/count-payment.ts";
import { announceStanding, type Standing } from "../tasks/count-task.ts";
import { callPeer, type PeerReply } from "./call-peer.ts";
import type { FederationServices } from "./federation.ts";
import { endHold } from "./hold-store.ts";
import { findOutbox, putOutbox, type OutboxEntry } from "./outbox-store.ts";
import { isFromPeer } from "./parties.ts";
import { findPeer } from "./peer-store.ts";

/** Does what is due for a settlement: sends it, or asks the peer whether an earlier copy was booked. */
export async function deliverSettlement(
  services: FederationServices,
  settlementId: string,
): Promise<void> {
  const { storage, runtime, federation } = services;
  const begun = await storage.transaction(async (tx) => {
    const entry = await findOutbox(tx, settlementId);
    const now = runtime.now();
    const step = entry === undefined ? null : nextStep(entry.settlement, now);
    if (entry === undefined || step === null) return undefined;
    const begin = step === "forward" ? beginAttempt : beginAsk;
    const settlement = begin(entry.settlement, federation.schedule, now);
    await putOutbox(tx, { ...entry, settlement });
    return { step, settlement };
  });
  if (begun === undefined) return;
  const { step, settlement } = begun;
  const peer = await findPeer(storage.read, settlement.peerId);
  if (peer === undefined) return;
  if (step === "forward") {
    const reply = await send(services, peer, settlement);
    const delivery = deliveryOf(reply, settlementId);
    await change(services, settlementId, reply.code ?? null, (stored) =>
      endAttempt(stored, delivery, { ...federation.schedule, now: runtime.now() }),
    );
  } else {
    const { list, code } = await ask(services, peer, settlement);
    await change(services, settlementId, code ?? null, (stored) =>
      endAsk(stored, list, runtime.now()),
    );
  }
}

function send(
  services: FederationServices,
  peer: FederationPeerRow,
  settlement: OutgoingSettlement,
): Promise<PeerReply> {
  const { relayId, secretKey } = services.identity;
  return callPeer(services, peer, {
    method: "POST",
    path: "/federation/v1/settlement/forward",
    body: createSettlement(settlement, { self: relayId, secretKey }),
  });
}

/** Only an answer about this very settlement says that it was booked. */
function deliveryOf({ delivery, body }: PeerReply, settlementId: string): Delivery {
  if (delivery.kind !== "answered" || delivery.status !== 200) return delivery;
  const answer = v.safeParse(SettlementAnswerSchema, body);
  const isAbout = answer.success && answer.output.settlement_id === settlementId;
  return isAbout ? delivery : { kind: "unknown" };
}

async function ask(
  services: FederationServices,
  peer: FederationPeerRow,
  { taskId }: OutgoingSettlement,
): Promise<{ readonly list: ReportedSettlements | null; readonly code: string | undefined }> {
  const path = `/federation/v1/settlements?task_id=${encodeURIComponent(taskId)}`;
  const { delivery, body, code } = await callPeer(services, peer, { method: "GET", path });
  const answered = delivery.kind === "answered" && delivery.status === 200;
  const list = v.safeParse(ReportedSettlementsSchema, answered ? body : undefined);
  return { list: list.success ? list.output : null, code };
}

/** Moves an entry on, and the money with it when that ends it. */
export async function change(
  services: FederationServices,
  settlementId: string,
  lastError: string | null,
  move: (settlement: OutgoingSettlement) => OutgoingSettlement,
  noteIn?: (tx: Tx, after: OutboxEntry) => Promise<void> | undefined,
): Promise<OutboxEntry | undefined> {
  const { storage, runtime, log, federation } = services;
  const changed = await storage.transaction(async (tx) => {
    const before = await findOutbox(tx, settlementId);
    if (before === undefined) return undefined;
    const settlement = move(before.settlement);
    const ends = settlement.resolution !== before.settlement.resolution;
    const after: OutboxEntry = {
      ...before,
      settlement,
      lastError: settlement.resolution === "paid" ? null : lastError,
      endedAt: isSettlementOver(settlement) ? (before.endedAt ?? runtime.now()) : null,
    };
    await putOutbox(tx, after);
    const isPaid = ends && settlement.resolution === "paid";
    const standings = isPaid ? await pay(tx, services, after) : [];
    if (ends && settlement.resolution === "refunded") await refund(tx, services, after);
    await noteIn?.(tx, after);
    return { after, ends, standings };
  });
  if (changed === undefined || !changed.ends) return changed?.after;
  const { settlement, payerId } = changed.after;
  for (const standing of changed.standings) announceStanding(services, settlement.taskId, standing);
  const about = {
    correlationId: settlement.taskId,
    settlement_id: settlementId,
    relay_id: settlement.peerId,
  };
  if (settlement.resolution === "paid") {
    log.info("settlement.created", {
      ...about,
      status: "completed",
      net: fromMicro(settlement.terms.net),
      fee: fromMicro(settlement.terms.fee),
      payer_id: payerId,
      payee_id: settlement.agentId,
    });
  } else if (settlement.resolution === "refunded") {
    federation.log.warn("settlement.retry.refunded", { ...about, payer_id: payerId });
  } else if (settlement.resolution === "held") {
    federation.log.error("federation.settlement.held", { ...about, attempts: settlement.attempts });
  }
  return changed.after;
}

/** The peer has it on its books: the payer is charged, and the peer is owed its part. */
async function pay(
  tx: Tx,
  services: FederationServices,
  { settlement, payerId, locked, allocationId, feePostings = [] }: OutboxEntry,
): Promise<readonly Standing[]> {
  const { runtime } = services;
  const { taskId, peerId, terms } = settlement;
  await endHold(tx, taskId);
  const entry = { taskId, description: "completed" };
  const postings = isFromPeer({ submitted_by: payerId })
    ? passedOn({ peerId, taskId, amount: terms.net })
    : outboundPaid({ peerId, taskId, payerId, locked: asMicro(locked), terms });
  const rows = await postClearing(tx, runtime, postings, entry);
  await recordSettlement(
    tx,
    {
      task_id: taskId,
      settlement_id: settlement.settlementId,
      allocation_id: allocationId,
      receipt_hash: settlement.receiptHash,
      ledger_hash: null,
      amount_settled: terms.gross,
      fee: terms.fee,
      net: terms.net,
      payer_id: payerId,
      payee_id: settlement.agentId,
      status: "completed",
      settled_at: runtime.now(),
      x402: settlement.x402,
    },
    [...feePostings, ...rows],
  );
  return countPayment(tx, services, { taskId, executorId: settlement.agentId, peerId });
}

/**
 * Nothing was paid: the whole hold goes back to the payer. A relay in the middle was paid and keeps
 * the rest for its operator to hand over: on a peer's account nothing moves without that peer.
 */
async function refund(
  tx: Tx,
  { runtime }: FederationServices,
  { settlement, payerId, locked, allocationId }: OutboxEntry,
): Promise<void> {
  const { taskId } = settlement;
  await endHold(tx, taskId);
  const description = "settlement refunded";
  if (isFromPeer({ submitted_by: payerId })) {
    const postings = unpassedPostings({ taskId, amount: asMicro(locked) });
    await postClearing(tx, runtime, postings, { taskId, description });
  } else {
    await releaseHold(tx, runtime, { task_id: taskId, submitted_by: payerId, locked }, description);
  }
  await recordSettlement(
    tx,
    {
      task_id: taskId,
      settlement_id: newId(runtime),
      allocation_id: allocationId,
      receipt_hash: settlement.receiptHash,
      ledger_hash: null,
      amount_settled: 0,
      fee: 0,
      net: 0,
      payer_id: payerId,
      payee_id: settlement.agentId,
      status: "refunded",
      settled_at: runtime.now(),
    },
    [],
  );
}
