import { fromMicro } from "@agent/budget";
import {
  inboundPaid,
  inboundPassed,
  judgeSettlement,
  openSettlement,
  readSignedMessageAsync,
  SettlementForwardSchema,
  type AcceptedSettlement,
  type SettlementForward,
  type X402Reference,
} from "@agent/federation-protocol";
import { type Answer, type Operations, type Refusal } from "@agent/wire";
import { postClearing, recordSettlement } from "../budget/clearing.ts";
import { newId } from "../runtime.ts";
import type { Tx } from "../storage/storage.ts";
import type { FederationPeerRow } from "../storage/tables/federation.ts";
import { debtOf } from "./debt-of.ts";
import type { FederationServices } from "./federation.ts";
import { releaseOnward } from "./finish-inbound.ts";
import { endHold, keepHold } from "./hold-store.ts";
import { countPayment } from "../tasks/count-payment.ts";
import { announceStanding, type Standing } from "../tasks/count-task.ts";
import { findInbound, putInbound } from "./inbound-store.ts";
import { findOutbound, type Outbound } from "./outbound-store.ts";
import { putOutbox } from "./outbox-store.ts";
import { payerOf } from "./parties.ts";
import { findPeer } from "./peer-store.ts";
import { passOn } from "./refusal.ts";
import { concludeRelay } from "./return-result.ts";

type Booked =
  | Answer<Operations["forwardSettlement"]>
  | Refusal<
      "federation.signature_invalid" | "federation.timestamp_expired" | "federation.wrong_sender"
    >;

/**
 * Books a peer's settlement once, whatever comes how often: the agent is paid, or at a relay in the
 * middle the next one's settlement begins. `body` is the message as it came; `askedAt` is set if it came
 * in the answer to a result that was sent then.
 */
export async function bookSettlement(
  services: FederationServices,
  from: FederationPeerRow,
  body: unknown,
  askedAt?: number,
): Promise<Booked> {
  const { storage, runtime, config, federation } = services;
  const signed = await readSignedMessageAsync(SettlementForwardSchema, body, from.public_key);
  if (!signed.ok) return passOn(signed);
  const { message } = signed;
  const booked = await storage.transaction(async (tx) => {
    const inbound = await findInbound(tx, message.task_id);
    const onward = await findOutbound(tx, message.task_id);
    const peer = (await findPeer(tx, from.relay_id)) ?? from;
    const judged = judgeSettlement(inbound?.task ?? null, message, {
      from: from.relay_id,
      now: runtime.now(),
      askedAt,
      lifetimeMs: federation.schedule.lifetimeMs,
      // What was promised to the next relay was reckoned at the rate of that day.
      feeRate: onward?.task.terms.feeRate ?? config.payments.platformFeeRate,
      clearing: await debtOf(tx, peer),
    });
    if (!judged.ok) return passOn(judged);
    if (inbound === undefined || judged.repeated) {
      return { ...judged, standings: [], cleared: false };
    }
    await putInbound(tx, { ...inbound, task: judged.task, settlement: message });
    const cleared = inbound.task.hold === "defaulted";
    if (onward !== undefined) {
      await payOn(tx, services, judged, onward, message);
      return { ...judged, standings: [], cleared };
    }
    const standings = await payAgent(tx, services, judged, message);
    return { ...judged, standings, cleared };
  });
  if (!booked.ok) {
    federation.log.warn("federation.settlement.refused", {
      correlationId: message.task_id,
      relay_id: from.relay_id,
      code: booked.code,
    });
    return booked;
  }
  if (!booked.repeated) {
    if (booked.cleared) {
      federation.log.info("federation.settlement.default_settled", {
        correlationId: message.task_id,
        relay_id: from.relay_id,
      });
    }
    federation.log.info("settlement.created", {
      correlationId: message.task_id,
      settlement_id: message.settlement_id,
      status: "completed",
      net: fromMicro(booked.booked.net),
      fee: fromMicro(booked.booked.fee),
      payer_id: payerOf(from.relay_id),
      payee_id: message.agent_id,
    });
    for (const standing of booked.standings) {
      announceStanding(services, message.task_id, standing);
    }
    federation.wake();
  }
  return { status: 200, body: booked.answer };
}

async function payAgent(
  tx: Tx,
  services: FederationServices,
  { task, booked, held }: AcceptedSettlement,
  message: SettlementForward,
): Promise<readonly Standing[]> {
  const { runtime } = services;
  const { taskId, peerId, agentId } = task;
  const rows = await postClearing(
    tx,
    runtime,
    inboundPaid({ taskId, peerId, agentId, terms: booked, held }),
    { taskId, description: "completed" },
  );
  await endHold(tx, taskId);
  await recordSettlement(
    tx,
    {
      task_id: taskId,
      settlement_id: message.settlement_id,
      allocation_id: taskId,
      receipt_hash: message.receipt_hash,
      ledger_hash: null,
      amount_settled: booked.gross,
      fee: booked.fee,
      net: booked.net,
      payer_id: payerOf(peerId),
      payee_id: agentId,
      status: "completed",
      settled_at: runtime.now(),
      x402: x402In(message),
    },
    rows,
  );
  return countPayment(tx, services, { taskId, executorId: agentId });
}

/** This relay was paid for a task that another did: from now on it owes that one, whatever happens. */
async function payOn(
  tx: Tx,
  { runtime }: FederationServices,
  { task, booked, held }: AcceptedSettlement,
  onward: Outbound,
  message: SettlementForward,
): Promise<void> {
  const { taskId, peerId } = task;
  const now = runtime.now();
  const postings = inboundPassed({ taskId, peerId, terms: booked, held });
  const feePostings = await postClearing(tx, runtime, postings, {
    taskId,
    description: "passed on",
  });
  await concludeRelay(tx, taskId, true);
  // From here on it counts by its entry in the outbox.
  await releaseOnward(tx, taskId);
  const { receiptHash } = onward.task;
  if (receiptHash === null) throw new Error(`task ${taskId} was settled without a result`);
  await putOutbox(tx, {
    settlement: openSettlement(
      { ...onward.task, receiptHash },
      { settlementId: newId(runtime), now, refundable: false, x402: x402In(message) },
    ),
    payerId: payerOf(peerId),
    locked: booked.net,
    allocationId: taskId,
    feePostings,
    createdAt: now,
    endedAt: null,
    lastError: null,
    version: 0,
  });
  await keepHold(tx, { task_id: taskId, amount: booked.net });
}

/** The payment that the task came with where it began, as that relay says. */
function x402In({ x402_tx_hash, x402_network }: SettlementForward): X402Reference | undefined {
  if (x402_tx_hash === undefined || x402_network === undefined) return undefined;
  return { txHash: x402_tx_hash, network: x402_network };
}
