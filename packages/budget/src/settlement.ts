import { splitFee } from "./fee.ts";
import { asMicro, MICRO, assertNotNegative, scaleHalfUp, ZERO, type Micro } from "./money.ts";

/** How a settlement can end (specification, "Settlement outcome"). */
export type SettlementStatus = "completed" | "partial" | "refunded";

/** How the executor says its task ended. */
export type ReceiptStatus = "completed" | "failed" | "denied";

/** What the task's signed ledger says of its steps. */
export interface StepCount {
  readonly completed: number;
  readonly total: number;
}

/** A settled task in micro-units. */
export interface SettlementDecision {
  readonly status: SettlementStatus;
  /** What the payer is charged; `fee + net`. */
  readonly amount: Micro;
  readonly fee: Micro;
  /** What the payee receives. */
  readonly net: Micro;
  /** What remains of the hold for the payer: the risk buffer and whatever was not earned. */
  readonly released: Micro;
}

const CENT = MICRO / 100;

/**
 * The settlement table (specification, "Settlement outcome"): what is paid, in micro-units, of the
 * amount that the table calls locked, which is the price of the task and never the hold with its
 * risk buffer (docs/decisions.md, 5). Throws RangeError on a negative amount and on steps that are
 * no count of a whole.
 */
export function computeSettlementAmount({
  status,
  locked,
  steps,
}: {
  readonly status: ReceiptStatus;
  readonly locked: Micro;
  readonly steps?: StepCount | undefined;
}): { readonly status: SettlementStatus; readonly amount: Micro } {
  assertNotNegative(locked);
  if (status !== "completed") return { status: "refunded", amount: ZERO };
  if (steps === undefined) return { status: "completed", amount: locked };

  const { completed, total } = assertStepCount(steps);
  // A ledger without steps has none that failed.
  if (completed === total) return { status: "completed", amount: locked };
  if (completed === 0) return { status: "refunded", amount: ZERO };
  const earned = scaleHalfUp(locked, completed, total * CENT) * CENT;
  // Rounding to cents can exceed a price that has fractions of a cent.
  return { status: "partial", amount: asMicro(Math.min(earned, locked)) };
}

/**
 * Everything a verified receipt decides about a task's money: the table above on the charge, the
 * relay's fee on what is paid, and the rest of the hold. Throws RangeError when the charge exceeds
 * the hold and where its parts throw.
 */
export function decideSettlement({
  receiptStatus,
  locked,
  charge,
  steps,
  feeRate,
}: {
  readonly receiptStatus: ReceiptStatus;
  readonly locked: Micro;
  readonly charge: Micro;
  readonly steps?: StepCount | undefined;
  readonly feeRate: number;
}): SettlementDecision {
  if (charge > locked) throw new RangeError("a charge must not exceed the hold behind it");
  const { status, amount } = computeSettlementAmount({
    status: receiptStatus,
    locked: charge,
    steps,
  });
  const { fee, net } = splitFee(amount, feeRate);
  return { status, amount, fee, net, released: asMicro(locked - amount) };
}

function assertStepCount(steps: StepCount): StepCount {
  const { completed, total } = steps;
  if (
    !Number.isSafeInteger(total) ||
    !Number.isInteger(completed) ||
    completed < 0 ||
    completed > total
  ) {
    throw new RangeError("completed steps must be a whole number from 0 to the total");
  }
  return steps;
}
