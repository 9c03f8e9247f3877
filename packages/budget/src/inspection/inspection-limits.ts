import { asMicro, ZERO, type Micro } from "../money.ts";

/** The duration of a suspension in ms, for an agent that lost too many cases or let too many pass. */
export const SUSPENSION_MS = 7 * 86_400_000;

const MIN_REJECTION_LIMIT = 20;

/** A number of inspections and the total amount that was due for them, in micro-units. */
export interface InspectionVolume {
  readonly count: number;
  readonly due: Micro;
}

/**
 * Returns whether a submitter has so many inspections in `rejected` and `disputed` that it may not request
 * another one: at least 20, and at least a tenth of those that it paid for in the last 30 days, by number
 * or by amount. If only the number counted, many inspections of almost no value, which cost no fee, would
 * allow as many rejections of valuable work. A rejection itself is never refused, because the submitter
 * would then pay for work that it wanted to reject.
 */
export function hasTooManyRejections({
  rejectedOrDisputed,
  paidIn30Days,
}: {
  readonly rejectedOrDisputed: InspectionVolume;
  readonly paidIn30Days: InspectionVolume;
}): boolean {
  const { count, due } = rejectedOrDisputed;
  if (count < MIN_REJECTION_LIMIT) return false;
  return count >= paidIn30Days.count / 10 || due >= paidIn30Days.due / 10;
}

/** A case of a submitter that was decided, or that a party gave up while it was disputed; times are in ms. */
export interface SubmitterCase {
  readonly closedAt: number;
  /** Whether the submitter lost it. */
  readonly isLost: boolean;
  /** The arbiter in charge. */
  readonly arbiterId: string;
}

const COUNTED_CASES = 10;
const MAX_LOST = 4;

/**
 * Returns whether a submitter is suspended: it lost five or more of its last ten cases, or of its last ten
 * before one arbiter, and the latest of these losses is less than seven days old. `cases` are newest first.
 * Each arbiter also counts separately, because a submitter can win any number of cases before an arbiter of
 * its own at no cost.
 */
export function isSubmitterSuspended(cases: readonly SubmitterCase[], now: number): boolean {
  const byArbiter = Map.groupBy(cases, ({ arbiterId }) => arbiterId);
  return [cases, ...byArbiter.values()].some((some) => hasLostTooMany(some, now));
}

function hasLostTooMany(cases: readonly SubmitterCase[], now: number): boolean {
  const lost = cases.slice(0, COUNTED_CASES).filter(({ isLost }) => isLost);
  const [newest] = lost;
  return newest !== undefined && lost.length > MAX_LOST && now < newest.closedAt + SUSPENSION_MS;
}

/**
 * A case that an agent decided as the arbiter in charge (`countsForArbiter`), or let pass to the operator;
 * times are in ms.
 */
export interface ArbiterCase {
  readonly endedAt: number;
  readonly isPassed: boolean;
  /**
   * The minimum that its parties can lose once the case has passed to the operator, in micro-units
   * (`computeLeastLoss`).
   */
  readonly leastLoss: Micro;
}

const MAX_PASSED_IN_A_ROW = 2;

/**
 * Returns whether an arbiter is suspended: it let at least its last three cases pass, the latest less than
 * seven days ago, and those in the seven days before the latest cost their parties at least `leastCost`
 * micro-units in total. Parties that belong together lose nothing else, and could otherwise suspend any
 * arbiter with disputes of almost no value. `cases` are newest first.
 */
export function isArbiterSuspended(
  cases: readonly ArbiterCase[],
  { now, leastCost }: { readonly now: number; readonly leastCost: Micro },
): boolean {
  const decidedAt = cases.findIndex(({ isPassed }) => !isPassed);
  const passed = decidedAt === -1 ? cases : cases.slice(0, decidedAt);
  const [newest] = passed;
  if (newest === undefined || passed.length <= MAX_PASSED_IN_A_ROW) return false;
  const cost = passed
    .filter(({ endedAt }) => endedAt > newest.endedAt - SUSPENSION_MS)
    .reduce<number>((sum, { leastLoss }) => sum + leastLoss, ZERO);
  return cost >= leastCost && now < newest.endedAt + SUSPENSION_MS;
}

/**
 * Returns the minimum amount due, in micro-units, at which a pending dispute counts against an arbiter's
 * limit when one about `due` is contested: the order of magnitude of `due`. Otherwise two colluding parties
 * could fill the limit of an arbiter with disputes of almost no value, shortly before a valuable case is
 * contested. An exact comparison would let any number of ever larger disputes in.
 */
export function getLeastRival(due: Micro): Micro {
  return asMicro(10 ** (String(due).length - 1));
}
