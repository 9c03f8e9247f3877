/** Bounds that every verifier keeps to. */
export const RECEIPT_LIMITS = {
  /** Nested receipts in one tree, all depths together; one more is `receipt.too_many_nested`. */
  maxNested: 256,
  /** Hops below the outermost receipt that are judged; what lies deeper is left, not refused. */
  maxHops: 10,
  /** Least `completed_at - submitted_at` in ms: two clocks may disagree by a minute. */
  minSpanMs: -60_000,
  /** Greatest `completed_at - submitted_at` in ms. */
  maxSpanMs: 3_600_000,
  /** How far ahead of the verifier's clock a receipt may be completed without a remark, in ms. */
  clockSkewMs: 60_000,
  /** How far outside its parent's span a nested receipt may lie without a remark, in ms. */
  nestedSkewMs: 60_000,
  /** How long after an agent left a key a receipt may have been completed with it, in ms. */
  formerKeySkewMs: 300_000,
} as const;
