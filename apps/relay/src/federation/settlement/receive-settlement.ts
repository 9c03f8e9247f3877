import type { PeerOperations } from "@agent/federation-protocol/http";
import {
  buildInboundPayment,
  buildInboundForwarding,
  checkSettlement,
  createOutgoingSettlement,
  type AcceptedSettlement,
  type SettlementForward,
  type X402Reference,
} from "@agent/federation-protocol/settlement";
import { verifySignedMessageAsync, type ReceivedMessage } from "@agent/federation-protocol/signing";
import type { Answer, Refusal } from "@agent/wire";
import { postClearing } from "../../budget/post-clearing.ts";
import { logSettlement, recordSettlement } from "../../budget/record-settlement.ts";
import { newId } from "../../runtime.ts";
import type { Tx } from "../../storage/storage.ts";
import type { FederationPeerRow } from "../../storage/tables/federation.ts";
import { getPeerDebt } from "../exposure/get-peer-debt.ts";
import type { FederationServices } from "../federation-services.ts";
import { releaseOutboundReservation } from "../inbound/finish-inbound-task.ts";
import { deleteHold, saveHold } from "./hold-store.ts";
import { recordTaskPayment } from "../../tasks/receipts/record-task-payment.ts";
import {
  publishReputation,
  type ReputationUpdate,
} from "../../tasks/receipts/record-task-outcome.ts";
import { enqueueSettled } from "../../webhooks/enqueue-task-webhooks.ts";
import { findInbound, saveInbound } from "../inbound/inbound-store.ts";
import { findOutbound, type OutboundRecord } from "../outbound/outbound-store.ts";
import { saveOutboxEntry } from "./outbox-store.ts";
import { peerPayerRef } from "../peer-ref.ts";
import { findPeer } from "../peers/peer-store.ts";
import { toWireRefusal } from "../transport/to-wire-refusal.ts";
import { concludeRelayedResult } from "../inbound/send-result.ts";

type ReceiveSettlementAnswer =
  | Answer<PeerOperations["forwardSettlement"]>
  | Refusal<
      "federation.signature_invalid" | "federation.timestamp_expired" | "federation.wrong_sender"
    >;

/**
 * Books a peer's settlement exactly once: pays the agent or, at an intermediate relay, starts the
 * settlement with the next relay. `askedAt` is set if the settlement arrived in the answer to a result that
 * was sent at that time.
 */
export async function receiveSettlement(
  services: FederationServices,
  from: FederationPeerRow,
  received: ReceivedMessage<SettlementForward>,
  askedAt?: number,
): Promise<ReceiveSettlementAnswer> {
  const { storage, runtime, config, federation } = services;
  const signed = await verifySignedMessageAsync(received, from.public_key);
  if (!signed.ok) return toWireRefusal(signed);
  const { message } = received;
  const result = await storage.transaction(async (tx) => {
    const inbound = await findInbound(tx, message.task_id);
    const outbound = await findOutbound(tx, message.task_id);
    const peer = (await findPeer(tx, from.relay_id)) ?? from;
    const checked = checkSettlement(inbound?.task ?? null, message, {
      from: from.relay_id,
      now: runtime.now(),
      askedAt,
      lifetimeMs: federation.schedule.lifetimeMs,
      // The next relay was promised an amount at the fee rate of that time.
      feeRate: outbound?.task.terms.feeRate ?? config.payments.platformFeeRate,
      clearing: await getPeerDebt(tx, peer),
    });
    if (!checked.ok) return toWireRefusal(checked);
    if (inbound === undefined || checked.repeated) {
      return { ...checked, reputationUpdates: [], cleared: false };
    }
    await saveInbound(tx, { ...inbound, task: checked.task, settlement: message });
    const cleared = inbound.task.hold === "defaulted";
    if (outbound !== undefined) {
      await enqueueNextHopSettlement(tx, services, checked, outbound, message);
      return { ...checked, reputationUpdates: [], cleared };
    }
    const reputationUpdates = await payExecutor(tx, services, checked, message);
    return { ...checked, reputationUpdates, cleared };
  });
  if (!result.ok) {
    federation.log.warn("federation.settlement.refused", {
      correlationId: message.task_id,
      relay_id: from.relay_id,
      code: result.code,
    });
    return result;
  }
  if (!result.repeated) {
    if (result.cleared) {
      federation.log.info("federation.settlement.default_settled", {
        correlationId: message.task_id,
        relay_id: from.relay_id,
      });
    }
    logSettlement(federation.log, {
      task_id: message.task_id,
      settlement_id: message.settlement_id,
      status: "completed",
      net: result.booked.net,
      fee: result.booked.fee,
      payer_id: peerPayerRef(from.relay_id),
      payee_id: message.agent_id,
    });
    for (const reputationUpdate of result.reputationUpdates) {
      publishReputation(services, message.task_id, reputationUpdate);
    }
    federation.wake();
  }
  return { status: 200, body: result.answer };
}

async function payExecutor(
  tx: Tx,
  services: FederationServices,
  { task, booked, held }: AcceptedSettlement,
  message: SettlementForward,
): Promise<readonly ReputationUpdate[]> {
  const { runtime } = services;
  const { taskId, peerId, agentId } = task;
  const { rows, movesCardMoney } = await postClearing(
    tx,
    runtime,
    buildInboundPayment({ taskId, peerId, agentId, terms: booked, held }),
    { taskId, description: "completed" },
  );
  await deleteHold(tx, taskId);
  const recorded = await recordSettlement(
    tx,
    services,
    {
      taskId,
      settlementId: message.settlement_id,
      allocationId: taskId,
      receiptHash: message.receipt_hash,
      terms: booked,
      payerId: peerPayerRef(peerId),
      payeeId: agentId,
      status: "completed",
      settledAt: runtime.now(),
      x402: toX402Reference(message),
    },
    rows,
  );
  await enqueueSettled(tx, services, recorded);
  return recordTaskPayment(tx, services, {
    taskId,
    executorId: agentId,
    fee: booked.fee,
    hasCardMoney: movesCardMoney,
  });
}

/**
 * Stores the settlement for the next relay: this relay was paid, so from now on it owes that one in any
 * case.
 */
async function enqueueNextHopSettlement(
  tx: Tx,
  { runtime }: FederationServices,
  { task, booked, held }: AcceptedSettlement,
  outbound: OutboundRecord,
  message: SettlementForward,
): Promise<void> {
  const { taskId, peerId } = task;
  const now = runtime.now();
  const postings = buildInboundForwarding({ taskId, peerId, terms: booked, held });
  const { rows: feePostings } = await postClearing(tx, runtime, postings, {
    taskId,
    description: "passed on",
  });
  await concludeRelayedResult(tx, taskId, true);
  // From now on the entry in the outbox counts as the reservation.
  await releaseOutboundReservation(tx, taskId);
  const { receiptHash } = outbound.task;
  if (receiptHash === null) throw new Error(`task ${taskId} was settled without a result`);
  await saveOutboxEntry(tx, {
    settlement: createOutgoingSettlement(
      { ...outbound.task, receiptHash },
      { settlementId: newId(runtime), now, refundable: false, x402: toX402Reference(message) },
    ),
    payerId: peerPayerRef(peerId),
    locked: booked.net,
    allocationId: taskId,
    feePostings,
    createdAt: now,
    endedAt: null,
    lastError: null,
    version: 0,
  });
  await saveHold(tx, { task_id: taskId, amount: booked.net });
}

/** Returns the payment with which the task was submitted, as stated by the first relay. */
function toX402Reference({
  x402_tx_hash,
  x402_network,
}: SettlementForward): X402Reference | undefined {
  if (x402_tx_hash === undefined || x402_network === undefined) return undefined;
  return { txHash: x402_tx_hash, network: x402_network };
}
