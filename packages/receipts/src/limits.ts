/** Limits that every verifier applies. */
export const RECEIPT_LIMITS = {
  /**
   * The maximum number of nested receipts in one tree, at all depths; more are refused with
   * `receipt.too_many_nested`.
   */
  maxNested: 256,
  /**
   * The number of levels below the outermost receipt that are verified; deeper receipts are ignored, not
   * refused.
   */
  maxHops: 10,
  /** The minimum of `completed_at - submitted_at` in ms: two clocks may disagree by a minute. */
  minSpanMs: -60_000,
  /** The maximum of `completed_at - submitted_at` in ms. */
  maxSpanMs: 3_600_000,
  /** The maximum by which `completed_at` may be ahead of the verifier's clock without a warning, in ms. */
  clockSkewMs: 60_000,
  /** The maximum by which a nested receipt may exceed its parent's time span without a warning, in ms. */
  nestedSkewMs: 60_000,
  /** The maximum time after the end of a key for a receipt to be completed with it, in ms. */
  formerKeySkewMs: 300_000,
  /** The maximum difference between the timestamp of a verdict or a decision and the relay's clock, in ms. */
  statementSkewMs: 300_000,
} as const;
