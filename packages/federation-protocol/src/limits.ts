/** Numbers of the specification ("Limits", "Federation endpoints"); times in milliseconds. */
export const FEDERATION_LIMITS = {
  /** How old, or how far ahead, a signed timestamp may be. */
  timestampAgeMs: 300_000,
  /** How long a proposal waits for its confirmation. */
  proposalLifeMs: 300_000,
  heartbeatIntervalMs: 60_000,
  missesToSuspend: 3,
  missesToRemove: 5,
  maxPeers: 50,
  maxHops: 3,
  queryMemoryMs: 30_000,
  /** Entries that are taken from one peer's answer. */
  entriesPerAnswer: 200,
  requestsPerMinute: 30,
  feeRate: 0.05,
} as const;
