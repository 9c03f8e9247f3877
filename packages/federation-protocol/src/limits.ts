/** Numbers of the specification ("Limits", "Federation endpoints"); times in milliseconds. */
export const FEDERATION_LIMITS = {
  /** The maximum distance of a signed timestamp from the receiver's clock, past or future. */
  maxTimestampAgeMs: 300_000,
  /** The time that a proposal waits for its confirmation. */
  proposalLifetimeMs: 300_000,
  missedHeartbeatsToSuspend: 3,
  missedHeartbeatsToRemove: 5,
  maxHops: 3,
  /** The time that the id of a query is remembered, so that the query is answered once. */
  queryLifetimeMs: 30_000,
  /** The maximum number of entries that are read from one peer's answer. */
  maxEntriesPerAnswer: 200,
} as const;
