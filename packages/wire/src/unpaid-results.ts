/** Amounts of one peer, all in the same unit of money. */
export interface UnpaidResults {
  readonly limit: number;
  /** The amount of results that the peer neither answered nor settled in time. */
  readonly undecided?: number | undefined;
  /** The amount of results that the peer refused when they may have been too late. */
  readonly refused?: number | undefined;
}

/**
 * Returns how much of a peer's credit its unpaid results use up. Refused results are forgiven up to the limit,
 * because an honest peer refuses such results too; the rest counts, or a peer that refuses all of them would get
 * unpaid work without end.
 */
export function sumUnpaidResults({ limit, undecided = 0, refused = 0 }: UnpaidResults): number {
  return undecided + Math.max(0, refused - limit);
}
