/** Every number of the specification's "Limits", and ours where it is silent (docs/decisions.md, 1 and 4). */
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

  /** Of one task, between its beginning and its end. */
  taskEvents: 1_000,
  streamKeepAliveMs: 15_000,

  defaultPageSize: 50,
  maxPageSize: 200,
  /** Looked through for a text on one page of discovery. */
  searchedAgents: 10_000,
  /** In one free text. */
  searchedWords: 16,
  pollWaitSeconds: 60,
  statementRows: 10_000,
  /** Of one agent. */
  webhooks: 20,

  taskTtlMs: 900_000,
  /** The shortest life that a submission may ask for. */
  minTaskTtlMs: 60_000,
  liveTasks: 100_000,
  liveTasksPerSubmitter: 1_000,
  claimLeaseMs: 60_000,
  settlementDepth: 10,
  nestedReceipts: 256,

  credentialBytes: 65_536,
  submittedCredentials: 50,

  /** Whose last cards are remembered, and how much of them for each. */
  cardReaders: 1_000,
  cardReaderCharacters: 65_536,

  recordedCandidates: 1_000,
  evidenceRecordCharacters: 65_536,
  visibilityQueries: 20,
  probeTimeoutMs: 2_000,

  planSteps: 500,
  /** Different capabilities and budgets of one plan for which agents are looked for. */
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
  /** Of the forward that a relay in the middle shows the next one, its task left out. */
  relayedBytes: 16_384,

  federationRequests: 30,
  federationProposals: 100,
  federationTimeoutMs: 10_000,
  federationProbeMs: 2_000,
  /** How often a peer is asked for the succession of its key, at most. */
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
