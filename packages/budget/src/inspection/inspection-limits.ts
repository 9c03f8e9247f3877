const SUSPENSION_MS = 7 * 86_400_000;

const MIN_REJECTION_LIMIT = 20;

/**
 * Returns whether a submitter has so many inspections in `rejected` and `disputed` that it may not ask for
 * another one: 20, or a tenth of its inspections of the last 30 days if that is more. A rejection itself is
 * never refused, because the submitter would then pay for work that it wanted to reject.
 */
export function hasTooManyRejections({
  rejectedOrDisputed,
  begunIn30Days,
}: {
  readonly rejectedOrDisputed: number;
  readonly begunIn30Days: number;
}): boolean {
  return rejectedOrDisputed >= Math.max(MIN_REJECTION_LIMIT, begunIn30Days / 10);
}

/** A case of a submitter that was decided, or given up while it was disputed; the time in ms. */
export interface SubmitterCase {
  readonly closedAt: number;
  /** Whether the submitter lost it. */
  readonly isLost: boolean;
}

const COUNTED_CASES = 10;
const MAX_LOST = 4;

/**
 * Returns whether a submitter lost five or more of its last ten cases, the newest of them less than
 * seven days ago. `cases` are newest first; those after the tenth do not count.
 */
export function isSubmitterSuspended(cases: readonly SubmitterCase[], now: number): boolean {
  const lost = cases.slice(0, COUNTED_CASES).filter(({ isLost }) => isLost);
  const [newest] = lost;
  return newest !== undefined && lost.length > MAX_LOST && now < newest.closedAt + SUSPENSION_MS;
}

/** A case that an agent was in charge of and decided, or let pass to the operator; the time in ms. */
export interface ArbiterCase {
  readonly endedAt: number;
  readonly isPassed: boolean;
}

const MAX_PASSED_IN_A_ROW = 2;

/**
 * Returns whether an arbiter let its last three cases pass, the newest less than seven days ago. `cases`
 * are newest first; those after the third do not count.
 */
export function isArbiterSuspended(cases: readonly ArbiterCase[], now: number): boolean {
  const last = cases.slice(0, MAX_PASSED_IN_A_ROW + 1);
  const [newest] = last;
  return (
    newest !== undefined &&
    last.length > MAX_PASSED_IN_A_ROW &&
    last.every(({ isPassed }) => isPassed) &&
    now < newest.endedAt + SUSPENSION_MS
  );
}
