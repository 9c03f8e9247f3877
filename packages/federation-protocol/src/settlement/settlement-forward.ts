import { fromMicro, toMicro } from "@agent/budget";
import { signJson } from "@agent/crypto";
import { checkReceivable, type PeerDebt } from "./clearing.ts";
import { computeTerms } from "./settlement-terms.ts";
import { isFreshAnswer } from "../freshness.ts";
import {
  acknowledgeReturn,
  type BookedTerms,
  type InboundTask,
} from "../forwarding/inbound-task.ts";
import { FEDERATION_LIMITS } from "../limits.ts";
import type { SettlementAnswer, SettlementForward } from "../messages/settlement.ts";
import { type FederationRefusal, refuse, type SettlementCode } from "../refusals.ts";
import type { OutgoingSettlement } from "./settlement-outbox.ts";

/**
 * The signed body of settlement/forward. Its time is that of the stored attempt and not of the moment
 * at which it leaves: from there it is counted when no copy can be booked any more.
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

/** What the receiving relay knows when it is told of a settlement. */
export interface SettlementContext {
  /** Who signed the request. */
  readonly from: string;
  readonly now: number;
  /**
   * When the result was sent whose answer brought the settlement, by this relay's clock. The answer
   * also ends the return, so a settlement that was refused because the answer was slow would not come
   * again. Absent for a settlement that came by itself.
   */
  readonly askedAt?: number | undefined;
  readonly lifetimeMs?: number;
  /** The receiver's own rate, which it takes from what it is paid. */
  readonly feeRate: number;
  /** Asked only where the hold has lapsed, because then the payment is new credit. */
  readonly clearing: PeerDebt;
}

/** A settlement that counts: the task as it is from now on, and what to book and to answer. */
export interface AcceptedSettlement {
  readonly ok: true;
  /** A repetition books nothing and gets the answer of the first time. */
  readonly repeated: boolean;
  readonly task: InboundTask;
  readonly booked: BookedTerms;
  /** Whether the money is taken from the task's hold; else from the peer's account. */
  readonly held: boolean;
  readonly answer: SettlementAnswer;
}

/**
 * Whether a settlement is booked, once `verifySignedMessage` has held its signature. To be asked in the
 * transaction that books it, with `now` read there: after a forward's lifetime the sender relies on
 * it being refused. Refused: `federation.wrong_sender`, `federation.timestamp_expired`,
 * `settlement.not_owed` (no task of this peer), `settlement.already_settled` (under another id),
 * `settlement.not_completed`, `settlement.amount_mismatch`, `settlement.receipt_mismatch`,
 * `clearing.limit_exceeded`.
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
  // A hold that was defaulted on counts as owed already, so its settlement needs no new room.
  if (task.hold !== "open" && task.hold !== "defaulted") {
    const credit = checkReceivable(clearing, amount);
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
