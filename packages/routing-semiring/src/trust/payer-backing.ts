import { ascendingLevels, type TrustLevel } from "./trust-level.ts";

/**
 * The fees, in micro-units, that a payer must have paid to the relay before its trust counts in full; see
 * `selectDisplayedLevel`. With 0 every payer counts in full.
 */
export interface TrustThresholds {
  readonly verified: number;
  readonly trusted: number;
}

/** A payer's record of one agent. */
export interface PayerRecord {
  readonly level: TrustLevel;
  /** The fees that the relay kept on the payer's completed tasks with the agent, in micro-units. */
  readonly feesKept: number;
  /** The number of completed tasks for which money was held. */
  readonly paidTasks: number;
  /** Payers with the same owner count as one; without it a payer counts for itself. */
  readonly owner?: string;
  /**
   * Whether the asking agent has paid this payer or trusts it, so that its trust counts in full without
   * fees.
   */
  readonly isKnown?: boolean;
}

/** For each level, the total weight of the payers of an agent that back it. */
export interface Backing {
  readonly first_contact: number;
  readonly verified: number;
  readonly trusted: number;
}

const backedLevels = ["first_contact", "verified", "trusted"] as const;

/**
 * Computes one owner's weight for each level, from its records of at least that level: the sum of their
 * fees, at most the threshold, or 1 for a level without a threshold. Payers that paid no fees have no
 * weight, unless the relay requires none.
 */
export function computeBacking(
  records: readonly PayerRecord[],
  thresholds: TrustThresholds,
): Backing {
  const weigh = (level: keyof Backing): number => {
    const holders = records.filter(
      (record) =>
        ascendingLevels.indexOf(level) <= getPlace(record.level) && isPaying(record, thresholds),
    );
    if (holders.length === 0) return 0;
    const fees = holders.reduce((sum, { feesKept }) => sum + feesKept, 0);
    const isFull =
      fees >= getThreshold(level, thresholds) || holders.some(({ isKnown }) => isKnown);
    return isFull ? getFullWeight(level, thresholds) : fees;
  };
  return {
    first_contact: weigh("first_contact"),
    verified: weigh("verified"),
    trusted: weigh("trusted"),
  };
}

/** Adds the backing of several owners. */
export function sumBacking(backings: readonly Backing[]): Backing {
  return backings.reduce(
    (sum, { first_contact, verified, trusted }) => ({
      first_contact: sum.first_contact + first_contact,
      verified: sum.verified + verified,
      trusted: sum.trusted + trusted,
    }),
    { first_contact: 0, verified: 0, trusted: 0 },
  );
}

/** Returns the difference of two backings. */
export function subtractBacking(one: Backing, other: Backing): Backing {
  return {
    first_contact: one.first_contact - other.first_contact,
    verified: one.verified - other.verified,
    trusted: one.trusted - other.trusted,
  };
}

/** Sums the backing of all payers of an agent, those with the same owner as one. */
export function sumPayerBacking(
  heldByPayers: readonly PayerRecord[],
  thresholds: TrustThresholds,
): Backing {
  const byOwner = Map.groupBy(heldByPayers, (record) => record.owner ?? record);
  return sumBacking(Array.from(byOwner.values(), (owned) => computeBacking(owned, thresholds)));
}

/**
 * Returns the highest level whose backing is at least twice the full weight of one owner, so at least two
 * owners back it.
 */
export function selectBackedLevel(backing: Backing, thresholds: TrustThresholds): TrustLevel {
  return (
    backedLevels.findLast((level) => backing[level] >= getRequiredBacking(level, thresholds)) ??
    "unknown"
  );
}

/** Returns the backing that a level needs before it is shown to strangers. */
function getRequiredBacking(level: keyof Backing, thresholds: TrustThresholds): number {
  return 2 * getFullWeight(level, thresholds);
}

/**
 * Selects the level shown to an agent that asks about another: its own record if it has one, otherwise the
 * highest level that the agent's payers back. Each owner of payers contributes its fees, up to the
 * threshold of the level, and the sum must reach twice the threshold; so faking a level costs that sum,
 * however many identities are used. A level that is not reached is shown as `first_contact`.
 */
export function selectDisplayedLevel(
  own: TrustLevel | null,
  heldByPayers: readonly PayerRecord[],
  thresholds: TrustThresholds,
): TrustLevel {
  return own ?? selectBackedLevel(sumPayerBacking(heldByPayers, thresholds), thresholds);
}

/**
 * Returns the level that one payer's record may state to strangers: at most `first_contact` without the
 * fees that a higher level needs.
 */
export function capLevelByFees(
  level: TrustLevel,
  feesKept: number,
  { verified, trusted }: TrustThresholds,
): TrustLevel {
  if (level === "trusted" && feesKept >= trusted) return "trusted";
  if (getPlace(level) >= getPlace("verified") && feesKept >= verified) return "verified";
  return getPlace(level) > getPlace("first_contact") ? "first_contact" : level;
}

/**
 * Computes the part of a task's fee that its payer has actually paid, in micro-units. Card money that is
 * not released does not count, because a refund may still take it back, whichever agent has it by then.
 * Neither does money of a payer whose balance was below 0, because its card payment was reversed during the
 * hold and the relay has lost that money.
 */
export function computeLeftFee({
  fee,
  payerBalance,
  hasCardMoney,
}: {
  readonly fee: number;
  readonly payerBalance: number;
  readonly hasCardMoney: boolean;
}): number {
  return hasCardMoney ? 0 : Math.max(0, fee - Math.max(0, -payerBalance));
}

/** A task as it is judged for strangers; amounts in micro-units. */
export interface StrangersTask {
  readonly priced: boolean;
  readonly hasFailed: boolean;
  /** The relay's fee of the task's charge, whatever the outcome. */
  readonly fee: number;
  /** The payer's fees with all executors, including this task's. */
  readonly payerFees: number;
  /** The part of the payer's fees that its earlier failed tasks have used; see `computeUsedFees`. */
  readonly usedFees: number;
}

/**
 * Returns whether a task counts for strangers: the fee of its charge is at least a micro-unit, and the payer's
 * fees with all executors reach the threshold of `verified`. Otherwise both praise and defamation would be
 * free. A failed task leaves no fee, so it also needs a part of the payer's fees that no earlier one has used.
 */
export function countsForStrangers(task: StrangersTask, thresholds: TrustThresholds): boolean {
  const { priced, hasFailed, fee, payerFees, usedFees } = task;
  const { verified } = thresholds;
  if (verified === 0) return priced;
  if (fee === 0 || payerFees < verified) return false;
  return !hasFailed || usedFees + computeUsedFees(task, thresholds) <= payerFees;
}

/**
 * Computes the part of the payer's fees that a task uses if it counts for strangers. A failed one uses the fee
 * that a success would have left, but at most the threshold, so that a payer of cheap tasks can report a dear
 * one; any other uses nothing.
 */
export function computeUsedFees(
  { hasFailed, fee }: Pick<StrangersTask, "hasFailed" | "fee">,
  { verified }: TrustThresholds,
): number {
  return hasFailed ? Math.min(fee, verified) : 0;
}

function isPaying({ feesKept, paidTasks }: PayerRecord, { verified }: TrustThresholds): boolean {
  return verified === 0 ? paidTasks > 0 : feesKept > 0;
}

/** A level without a threshold counts payers instead of fees. */
function getFullWeight(level: keyof Backing, thresholds: TrustThresholds): number {
  return Math.max(getThreshold(level, thresholds), 1);
}

function getThreshold(level: keyof Backing, thresholds: TrustThresholds): number {
  return level === "first_contact" ? 0 : thresholds[level];
}

/** Returns the rank of a level, -1 for `blocked`. */
function getPlace(level: TrustLevel): number {
  return level === "blocked" ? -1 : ascendingLevels.indexOf(level);
}
