import { splitFee } from "./fee.ts";
import { asMicro, MICRO, assertNotNegative, scaleHalfUp, ZERO, type Micro } from "./money.ts";

/** The outcome of a settlement (specification, "Settlement outcome"). */
export type SettlementStatus = "completed" | "partial" | "refunded";

/** The outcome of a task as its executor states it. */
export type ReceiptStatus = "completed" | "failed" | "denied";

/** The number of steps in the task's signed ledger. */
export interface StepCount {
  readonly completed: number;
  readonly total: number;
}

/** A settled task in micro-units. */
export interface SettlementDecision {
  readonly status: SettlementStatus;
  /** The amount charged to the payer: `fee + net`. */
  readonly amount: Micro;
  readonly fee: Micro;
  /** The amount that the payee receives. */
  readonly net: Micro;
  /** The part of the hold returned to the payer: the risk buffer and the unearned price. */
  readonly released: Micro;
}

const CENT = MICRO / 100;

/**
 * Computes the settled amount in micro-units by the table of the specification ("Settlement outcome").
 * `charge` is the price of the task and never the hold with its risk buffer (docs/decisions.md, 5).
 * Throws a RangeError for a negative amount and for an invalid count of steps.
 */
export function computeSettlementAmount({
  status,
  charge,
  steps,
}: {
  readonly status: ReceiptStatus;
  readonly charge: Micro;
  readonly steps?: StepCount | undefined;
}): { readonly status: SettlementStatus; readonly amount: Micro } {
  assertNotNegative(charge);
  if (status !== "completed") return { status: "refunded", amount: ZERO };
  if (steps === undefined) return { status: "completed", amount: charge };

  const { completed, total } = assertStepCount(steps);
  // A ledger without steps has no failed steps.
  if (completed === total) return { status: "completed", amount: charge };
  if (completed === 0) return { status: "refunded", amount: ZERO };
  const earned = scaleHalfUp(charge, completed, total * CENT) * CENT;
  // Rounding to cents can exceed a price with fractions of a cent.
  return { status: "partial", amount: asMicro(Math.min(earned, charge)) };
}

/**
 * Decides the settlement of a verified receipt: the part of the charge that is paid, the relay's fee on it
 * and the remainder of the hold. Throws a RangeError if the charge exceeds the hold, and in the cases of
 * `computeSettlementAmount` and `splitFee`.
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
  if (charge > locked) throw new RangeError("charge must not exceed locked");
  const { status, amount } = computeSettlementAmount({
    status: receiptStatus,
    charge,
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
    throw new RangeError("steps.completed must be a whole number from 0 to steps.total");
  }
  return steps;
}
