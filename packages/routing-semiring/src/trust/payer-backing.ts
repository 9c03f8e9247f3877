import { ascendingLevels, type TrustLevel } from "./trust-level.ts";

/**
 * The fees, in micro-units, that a payer must have left at the relay before its word counts in full; see
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
  /** The completed tasks for which money was held. */
  readonly paidTasks: number;
  /** Payers with the same owner count as one; without it a payer counts for itself. */
  readonly owner?: string;
  /** The asking agent has paid this payer, or trusts it, so its word counts in full without fees. */
  readonly isKnown?: boolean;
}

/** The sums of the weights that payers of an agent put behind each level. */
export interface Backing {
  readonly first_contact: number;
  readonly verified: number;
  readonly trusted: number;
}

const backedLevels = ["first_contact", "verified", "trusted"] as const;

/**
 * Computes the weight of one owner's word for each level, from its records that hold at least this level:
 * their fees together, at most the threshold; 1 for a level without a threshold. Payers that left no fee
 * weigh nothing, unless the relay demands none.
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

/** Returns by how much one backing exceeds another. */
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

/** Returns the highest level whose backing is twice the full weight of a word: at least two owners'. */
export function selectBackedLevel(backing: Backing, thresholds: TrustThresholds): TrustLevel {
  return (
    backedLevels.findLast((level) => backing[level] >= getRequiredBacking(level, thresholds)) ??
    "unknown"
  );
}

/** Returns the backing at which a level is shown to strangers. */
function getRequiredBacking(level: keyof Backing, thresholds: TrustThresholds): number {
  return 2 * getFullWeight(level, thresholds);
}

/**
 * Selects the level shown to an agent that asks about another: its own if it has a record, otherwise the
 * highest level that the agent's payers back. Each owner of payers adds the fees that they left, up to the
 * threshold of the level, and the sum must reach twice the threshold: so faking a level costs this sum,
 * with any number of identities. A level below that is shown as `first_contact`.
 */
export function selectDisplayedLevel(
  own: TrustLevel | null,
  heldByPayers: readonly PayerRecord[],
  thresholds: TrustThresholds,
): TrustLevel {
  return own ?? selectBackedLevel(sumPayerBacking(heldByPayers, thresholds), thresholds);
}

/**
 * Returns the level that one payer's record may state to strangers: none above `first_contact` without the
 * fees of that level.
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
 * Computes the part of a task's fee that its payer has left, in micro-units. Card money that is not released
 * leaves nothing, because a refund may still take it back, whichever agent it was passed on to. A payer below
 * 0, whose card payment was taken back during the hold, pays with money that the relay has lost.
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

/**
 * Returns whether a task counts for strangers, whatever its outcome: the fee of its charge is at least a
 * micro-unit, and its payer's fees with all executors, this one included, reach the threshold of
 * `verified`. Otherwise praise and harm would be free.
 */
export function countsForStrangers(
  { priced, fee, payerFees }: { priced: boolean; fee: number; payerFees: number },
  { verified }: TrustThresholds,
): boolean {
  return verified === 0 ? priced : fee > 0 && payerFees >= verified;
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

/** Returns the place of a level, -1 for `blocked`. */
function getPlace(level: TrustLevel): number {
  return level === "blocked" ? -1 : ascendingLevels.indexOf(level);
}
