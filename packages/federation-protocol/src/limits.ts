/** Numbers of the specification ("Limits", "Federation endpoints"); times in milliseconds. */
export const FEDERATION_LIMITS = {
  /** How old, or how far ahead, a signed timestamp may be. */
  maxTimestampAgeMs: 300_000,
  /** How long a proposal waits for its confirmation. */
  proposalLifetimeMs: 300_000,
  heartbeatIntervalMs: 60_000,
  missedHeartbeatsToSuspend: 3,
  missedHeartbeatsToRemove: 5,
  maxPeers: 50,
  maxHops: 3,
  queryLifetimeMs: 30_000,
  /** Entries that are taken from one peer's answer. */
  maxEntriesPerAnswer: 200,
  requestsPerMinute: 30,
  feeRate: 0.05,
} as const;
