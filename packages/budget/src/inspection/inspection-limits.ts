import { asMicro, ZERO, type Micro } from "../money.ts";

/** The time for which an agent that lost or let pass too many cases is suspended, in ms. */
export const SUSPENSION_MS = 7 * 86_400_000;

const MIN_REJECTION_LIMIT = 20;

/** A number of inspections, and the sum that was due for them in micro-units. */
export interface InspectionVolume {
  readonly count: number;
  readonly due: Micro;
}

/**
 * Returns whether a submitter has so many inspections in `rejected` and `disputed` that it may not ask for
 * another one: 20, and no less than a tenth of those that it paid for in the last 30 days, by number or by sum.
 * By number alone, many inspections about next to nothing, which cost it no fee, would allow as many
 * rejections. A rejection itself is never refused, because the submitter would then pay for work that it
 * wanted to reject.
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

/** A case of a submitter that was decided, or given up while it was disputed; the time in ms. */
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
 * Returns whether a submitter lost five or more of its last ten cases, or of its last ten before one arbiter,
 * the newest of the lost ones less than seven days ago. `cases` are newest first. Each arbiter counts by itself as
 * well, because a submitter can win any number of cases before an arbiter of its own without a cost.
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

/** A case that an agent was in charge of and decided, or let pass to the operator; the time in ms. */
export interface ArbiterCase {
  readonly endedAt: number;
  readonly isPassed: boolean;
  /** The least that its parties can lose by it once it passed, in micro-units (`computeLeastLoss`). */
  readonly leastLoss: Micro;
}

const MAX_PASSED_IN_A_ROW = 2;

/**
 * Returns whether an arbiter let its last three or more cases pass, the newest less than seven days ago, if those of
 * the seven days before the newest cost their parties `leastCost` micro-units together. Parties who belong together
 * lose nothing else, and could otherwise suspend any arbiter by disputes about next to nothing. `cases` are newest
 * first.
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
 * Returns the least sum due, in micro-units, of the disputes that take an arbiter's places from one about `due`: its own
 * order of magnitude. Disputes about next to nothing would otherwise fill all places of the arbiter that both parties
 * named, shortly before a valuable case is contested; and compared exactly, ever larger ones would need no place.
 */
export function getLeastRival(due: Micro): Micro {
  return asMicro(10 ** (String(due).length - 1));
}
