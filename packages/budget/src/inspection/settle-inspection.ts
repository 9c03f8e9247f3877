import { accountOf, FEE_ACCOUNT } from "../account.ts";
import { computeLockAmount } from "../allocation.ts";
import { rateToPpm, splitFee } from "../fee.ts";
import { asMicro, MICRO, negate, assertNotNegative, scaleHalfUp, type Micro } from "../money.ts";
import { buildReleasePostings, buildSettlementPostings, type Posting } from "../posting.ts";
import type { SettlementStatus } from "../settlement.ts";
import type { InspectionOutcome } from "./decide-inspection.ts";
import { computePart } from "./millionths.ts";

/** The rate and the minimum of the arbitration fee. */
export interface ArbitrationRate {
  readonly feeRate: number;
  /** Without it a dispute about one micro-unit would cost nothing. */
  readonly feeMin: Micro;
}

/**
 * Computes the fee of an arbitration about an amount, in micro-units: the amount times the rate, rounded
 * half up, but at least `feeMin`. Throws a RangeError unless `isFeeRate`.
 */
export function computeArbitrationFee(amount: Micro, { feeRate, feeMin }: ArbitrationRate): Micro {
  const fee = scaleHalfUp(amount, rateToPpm(feeRate), MICRO);
  return asMicro(Math.max(fee, assertNotNegative(feeMin)));
}

/**
 * Computes the amount to hold for a task with an inspection, in micro-units: as for any task, but at least
 * its price plus the arbitration fee; null if that is more than `available`, so that the task is refused.
 */
export function computeInspectedLock({
  estimate,
  available,
  riskFactor,
  ...rate
}: ArbitrationRate & {
  readonly estimate: Micro;
  readonly available: Micro;
  readonly riskFactor?: number;
}): Micro | null {
  const least = asMicro(estimate + computeArbitrationFee(estimate, rate));
  if (available < least) return null;
  const locked = computeLockAmount({ estimate, available, riskFactor });
  return locked === null ? null : asMicro(Math.max(locked, least));
}

/** A closed inspection whose money must move; amounts in micro-units. */
export interface InspectionToSettle {
  readonly taskId: string;
  /** The reference of the executor's bond. */
  readonly disputeId: string;
  readonly payerId: string;
  readonly payeeId: string;
  /** The agent in charge; null if that is the operator or there is no dispute. */
  readonly arbiterId: string | null;
  /** The amount that the receipt earned by the settlement table, and the status from that table. */
  readonly due: Micro;
  readonly dueStatus: SettlementStatus;
  /** The fee of an arbitration about `due`; the hold is `due + fee`. */
  readonly fee: Micro;
  /** The executor's bond: `fee` once it contested, else 0. */
  readonly bond: Micro;
  readonly platformFeeRate: number;
  readonly outcome: InspectionOutcome;
}

/** The money of a closed inspection in micro-units. */
export interface InspectionSettlement {
  readonly status: SettlementStatus;
  /** The charge: `platformFee + net`. */
  readonly paid: Micro;
  readonly platformFee: Micro;
  readonly net: Micro;
  /** The part of the arbitration fee that each party pays. */
  readonly arbitration: { readonly submitter: Micro; readonly executor: Micro };
  /** The movement of bond and arbitration fee, which must be booked first; empty without a dispute. */
  readonly disputePostings: readonly Posting[];
  /** The movement of the settlement, as for any task. */
  readonly settlementPostings: readonly Posting[];
}

/**
 * Settles a closed inspection. The loser pays the arbitration fee from the money held for it, the executor
 * receives its share of the amount due less the platform fee, and the rest is returned. In the order of the
 * postings no balance falls below 0. Throws a RangeError for a bond that is neither 0 nor the fee.
 */
export function settleInspection(inspection: InspectionToSettle): InspectionSettlement {
  const { taskId, payerId, payeeId, due, dueStatus, fee, outcome } = inspection;
  const paid = computePart(due, outcome.share);
  const { fee: platformFee, net } = splitFee(paid, inspection.platformFeeRate);
  const arbitration = divideArbitration(inspection);
  const locked = asMicro(due + fee - arbitration.submitter);
  return {
    status: getSettledStatus(paid, due, dueStatus),
    paid,
    platformFee,
    net,
    arbitration,
    disputePostings: buildDisputePostings(inspection, arbitration),
    settlementPostings: buildSettlementPostings({
      payerId,
      payeeId,
      taskId,
      locked,
      charge: paid,
      fee: platformFee,
    }),
  };
}

type Arbitration = InspectionSettlement["arbitration"];

/** A party that gives up pays half, because otherwise it could reject or contest for free to gain time. */
function divideArbitration({ fee, bond, outcome }: InspectionToSettle): Arbitration {
  if (bond !== 0 && bond !== fee) throw new RangeError("the bond must be 0 or the fee");
  const { result, lostBy } = outcome;
  const half = Math.ceil(fee / 2);
  const loserPays = result === "decided" ? fee : half;
  if (lostBy === "submitter") return { submitter: asMicro(loserPays), executor: asMicro(0) };
  if (lostBy === "executor") return { submitter: asMicro(0), executor: asMicro(loserPays) };
  if (result !== "decided") return { submitter: asMicro(0), executor: asMicro(0) };
  return { submitter: asMicro(half), executor: asMicro(fee - half) };
}

function buildDisputePostings(
  { taskId, disputeId, payerId, payeeId, arbiterId, bond }: InspectionToSettle,
  { submitter, executor }: Arbitration,
): readonly Posting[] {
  const total = asMicro(submitter + executor);
  const charges: readonly Posting[] = [
    { account: accountOf.party(payerId), type: "settlement_debit", amount: negate(submitter) },
    { account: accountOf.party(payeeId), type: "settlement_debit", amount: negate(executor) },
    arbiterId === null
      ? { account: FEE_ACCOUNT, type: "fee", amount: total }
      : { account: accountOf.agent(arbiterId), type: "settlement_credit", amount: total },
  ];
  return [
    ...buildReleasePostings({ payerId, taskId, amount: submitter }),
    ...buildReleasePostings({ payerId: payeeId, taskId: disputeId, amount: bond }),
    ...charges.filter(({ amount }) => amount !== 0),
  ];
}

function getSettledStatus(paid: Micro, due: Micro, dueStatus: SettlementStatus): SettlementStatus {
  if (paid === due) return dueStatus;
  return paid === 0 ? "refunded" : "partial";
}
