/** The numbers of the specification's "Limits" and those it leaves open (docs/decisions.md, 1 and 4). */
export const limits = {
  rateWindowMs: 60_000,
  tiers: { auth: 30, read: 60, write: 30, public: 20, expensive: 10 },

  requestBytes: 1_048_576,
  promptBytes: 262_144,
  resultBytes: 524_288,
  jsonDepth: 64,
  idLength: 256,
  shortText: 256,
  longText: 4_096,
  capabilities: 100,
  excludedAgents: 1_000,

  idempotencyKeyLength: 255,
  idempotencyKeyMs: 86_400_000,

  /** Events of one task, besides its first and its last one. */
  taskEvents: 1_000,
  streamKeepAliveMs: 15_000,

  defaultPageSize: 50,
  maxPageSize: 200,
  /** Agents whose texts are searched for one page of discovery. */
  searchedAgents: 10_000,
  /** Words of one search text. */
  searchedWords: 16,
  pollWaitSeconds: 60,
  statementRows: 10_000,
  /** Webhooks of one agent. */
  webhooks: 20,

  taskTtlMs: 900_000,
  /** The shortest `ttl_ms` of a submission. */
  minTaskTtlMs: 60_000,
  liveTasks: 100_000,
  liveTasksPerSubmitter: 1_000,
  claimLeaseMs: 60_000,
  settlementDepth: 10,
  nestedReceipts: 256,

  credentialBytes: 65_536,
  submittedCredentials: 50,

  /** Readers whose last agent cards are cached, and the characters cached for each. */
  cardReaders: 1_000,
  cardReaderCharacters: 65_536,

  recordedCandidates: 1_000,
  evidenceRecordCharacters: 65_536,
  visibilityQueries: 20,
  probeTimeoutMs: 2_000,

  planSteps: 500,
  /** Distinct capabilities and budgets of one plan for which agents are searched. */
  planSearches: 10,
  recordBatch: 100,
  eventCharacters: 16_384,
  goalEvents: 10_000,

  approvers: 50,
  revokedTokens: 100,
  cardHoldMs: 604_800_000,
  pairingTtlMs: 300_000,
  pairingAttempts: 5,
  pairingRetentionMs: 86_400_000,

  successionCharacters: 2_048,
  agentKeys: 1_000,
  successionRecords: 100,
  trustClosure: 1_000,
  trustHops: 32,

  tokenLifetimeMs: 300_000,
  clockSkewMs: 300_000,

  socketFrameBytes: 1_048_576,
  socketBacklogBytes: 4_194_304,
  socketMessages: 100,
  socketWindowMs: 10_000,
  socketAuthMs: 5_000,
  socketPingMs: 30_000,

  forwardTimeoutMs: 330_000,
  outboundBytes: 2_097_152,
  /** The forward that an intermediate relay shows the next one, without its task. */
  relayedBytes: 16_384,

  federationRequests: 30,
  federationProposals: 100,
  federationTimeoutMs: 10_000,
  federationProbeMs: 2_000,
  /** The shortest interval between two requests for the key succession of a peer. */
  federationKeyLookupMs: 1_000,
  federationHopMs: 1_000,
  federationGraceMs: 250,
  federationCacheMs: 5_000,
  federationAgents: 10_000,
  federationClaimMs: 600_000,
  federationOwnerLookups: 10,
  federationDeliveries: 64,
} as const;

export type Tier = keyof typeof limits.tiers;
