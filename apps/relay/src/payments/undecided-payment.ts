/** The age after which an undecided payment must be resolved by the operator. */
export const UNDECIDED_AFTER_MS = 3_600_000;
