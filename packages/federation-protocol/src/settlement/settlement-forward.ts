import { asMicro, fromMicro, toMicro } from "@agent/budget";
import { signJson } from "@agent/crypto";
import { checkReceivable, type PeerDebt } from "./credit-limit.ts";
import { computeTerms } from "./settlement-terms.ts";
import { isFreshAnswer } from "../freshness.ts";
import {
  getUndecidedAmount,
  type BookedTerms,
  type InboundTask,
} from "../forwarding/inbound-task.ts";
import { acknowledgeReturn } from "../forwarding/result-return.ts";
import { FEDERATION_LIMITS } from "../limits.ts";
import type { SettlementAnswer, SettlementForward } from "../messages/settlement.ts";
import { type FederationRefusal, refuse, type SettlementCode } from "../refusals.ts";
import type { OutgoingSettlement } from "./outgoing-settlement.ts";

/**
 * Creates the signed body of settlement/forward. Its time is that of the stored attempt, not that of
 * sending, because the time after which a copy can no longer be booked is counted from the stored attempt.
 */
export function createSettlementForward(
  settlement: OutgoingSettlement,
  { self, secretKey }: { readonly self: string; readonly secretKey: Uint8Array },
): SettlementForward {
  const { terms, x402 } = settlement;
  return signJson(
    {
      settlement_id: settlement.settlementId,
      task_id: settlement.taskId,
      origin_relay: self,
      agent_id: settlement.agentId,
      receipt_hash: settlement.receiptHash,
      gross_amount: fromMicro(terms.gross),
      fee_rate: terms.feeRate,
      fee_amount: fromMicro(terms.fee),
      amount: fromMicro(terms.net),
      currency: "USD" as const,
      settled_at: settlement.settledAt,
      ...(x402 !== undefined && { x402_tx_hash: x402.txHash, x402_network: x402.network }),
      timestamp: settlement.lastAttemptAt ?? settlement.settledAt,
      to: settlement.peerId,
    },
    secretKey,
  );
}

/** The receiving relay's view of a settlement. */
export interface SettlementContext {
  /** The relay that signed the request. */
  readonly from: string;
  /** In ms since the epoch, by this relay's clock. */
  readonly now: number;
  /**
   * When this relay sent the result whose answer contained the settlement, in ms since the epoch by its
   * clock. That answer also ends the return of the result, so a settlement refused only because the answer
   * was slow would never be sent again. Absent for a settlement in a request of its own.
   */
  readonly askedAt?: number | undefined;
  /** The maximum age of the body, in ms; 5 minutes by default. */
  readonly lifetimeMs?: number;
  /** The receiver's own fee rate, which it deducts from the payment. */
  readonly feeRate: number;
  /** Used only if the hold has expired, because the payment is then new credit. */
  readonly clearing: PeerDebt;
}

/** An accepted settlement: the updated task, the postings and the answer. */
export interface AcceptedSettlement {
  readonly ok: true;
  /** A repetition books nothing and gets the first answer again. */
  readonly repeated: boolean;
  readonly task: InboundTask;
  readonly booked: BookedTerms;
  /** Whether the money comes from the task's hold; otherwise from the peer's account. */
  readonly held: boolean;
  readonly answer: SettlementAnswer;
}

/**
 * Checks a settlement after `verifySignedMessage` has verified it. Must run in the transaction that books
 * it, with `now` read there, because the sender relies on its refusal once the forward's lifetime is over.
 * Refused: `federation.wrong_sender`, `federation.timestamp_expired`, `settlement.not_owed` (no task of
 * this peer), `settlement.already_settled` (under another id), `settlement.not_completed`,
 * `settlement.amount_mismatch`, `settlement.receipt_mismatch`, `clearing.limit_exceeded`.
 */
export function checkSettlement(
  task: InboundTask | null,
  message: SettlementForward,
  {
    from,
    now,
    askedAt = now,
    lifetimeMs = FEDERATION_LIMITS.maxTimestampAgeMs,
    feeRate,
    clearing,
  }: SettlementContext,
): AcceptedSettlement | FederationRefusal<SettlementCode> {
  if (message.origin_relay !== from) return refuse("federation.wrong_sender");
  if (task === null || task.peerId !== from) return refuse("settlement.not_owed");
  if (task.settlement !== null) {
    return task.settlement.settlementId === message.settlement_id
      ? { ...buildAcceptance(task, task.settlement), repeated: true }
      : refuse("settlement.already_settled");
  }
  if (!isFreshAnswer(message.timestamp ?? now, { askedAt, now }, lifetimeMs)) {
    return refuse("federation.timestamp_expired");
  }
  if (task.receiptStatus !== "completed" || task.state === "void") {
    return refuse("settlement.not_completed");
  }
  const amount = toMicro(message.amount);
  if (
    amount !== task.amount ||
    toMicro(message.gross_amount) - toMicro(message.fee_amount) !== amount
  ) {
    return refuse("settlement.amount_mismatch");
  }
  if (message.receipt_hash !== task.receiptHash || message.agent_id !== task.agentId) {
    return refuse("settlement.receipt_mismatch");
  }
  // A defaulted hold counts as owed already, so its settlement needs no further credit.
  if (task.hold !== "open" && task.hold !== "defaulted") {
    // The payment replaces the credit that the task itself uses up.
    const undecided = asMicro(Math.max(0, (clearing.undecided ?? 0) - getUndecidedAmount(task)));
    const credit = checkReceivable({ ...clearing, undecided }, amount);
    if (!credit.ok) return credit;
  }
  const booked = {
    ...computeTerms(amount, feeRate),
    settlementId: message.settlement_id,
    bookedAt: now,
  };
  return buildAcceptance(task, booked);
}

function buildAcceptance(task: InboundTask, booked: BookedTerms): AcceptedSettlement {
  return {
    ok: true,
    repeated: false,
    task: { ...acknowledgeReturn(task), hold: "settled", settlement: booked },
    booked,
    held: task.hold === "open",
    answer: {
      status: "settled",
      settlement_id: booked.settlementId,
      fee_amount: fromMicro(booked.fee),
      net_amount: fromMicro(booked.net),
    },
  };
}
