/** A payment of which the facilitator has said nothing certain for so long is the operator's to end. */
export const UNDECIDED_AFTER_MS = 3_600_000;
