/** The numbers of the specification's "Limits" and those it leaves open (docs/decisions.md, 1 and 4). */
export const limits = {
  rateWindowMs: 60_000,
  /** Requests for pages and their files, per window and address. */
  staticPerWindow: 600,
  tiers: { auth: 30, read: 60, write: 30, public: 20, expensive: 10, log: 600 },

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
  /** The notes of one task together, in UTF-8; a note beyond them is dropped. */
  taskNoteBytes: 65_536,
  /** Events that are read at once for a stream. */
  eventPage: 32,
  streamKeepAliveMs: 15_000,
  /** A stream whose reader takes nothing for so long is cut. */
  streamStallMs: 30_000,
  /** Open event streams of one agent: of one task, and of all tasks. */
  streamsPerTask: 8,
  streamsPerCaller: 64,
  /** Open event streams of the operator. */
  operatorStreams: 1_024,

  /** Requests of one connection whose answers are in the making. */
  connectionAnswers: 8,
  /** A connection whose client takes nothing of an answer for so long is closed. */
  answerStallMs: 75_000,

  defaultPageSize: 50,
  maxPageSize: 200,
  /** A page of a list has as many entries as fit, and one at least: clients read no answer of more than 2 MiB. */
  pageBytes: 1_048_576,
  /** Agents whose texts are searched for one page of discovery. */
  searchedAgents: 10_000,
  /** Words of one search text. */
  searchedWords: 16,
  /** The longest `wait` of a long poll. */
  pollWaitSeconds: 60,
  statementRows: 10_000,
  /** Pending withdrawals of one agent: the operator must pay or refuse each of them. */
  pendingWithdrawals: 20,
  /** Devices of one agent that are not revoked: a receipt may be checked against the key of each. */
  devices: 100,
  /** Other ids that claim a key without proof: its first proof ends them all in one transaction. */
  unprovenBindings: 20,
  /** Webhooks of one agent. */
  webhooks: 20,

  taskTtlMs: 900_000,
  /** The longest `window_ms` of an inspection before payment, and the shortest one of any relay. */
  maxInspectionWindowMs: 1_209_600_000,
  minInspectionWindowMs: 100,
  /** The arbiters that a listing accepts besides the operator. */
  listedArbiters: 10,
  /** Open inspections that a listing accepts. */
  openInspections: 10_000,
  /** Cases that one arbiter has at a time; the operator gets the others. */
  arbiterCases: 100,
  /** The time in which an arbiter may still read a closed case. */
  arbiterAccessMs: 2_592_000_000,
  /** The shortest `ttl_ms` of a submission. */
  minTaskTtlMs: 60_000,
  liveTasks: 100_000,
  liveTasksPerSubmitter: 1_000,
  /**
   * The price in micro-units from which a task may use a tenth of the slots that free tasks leave, and
   * another tenth from ten times that price, and so on.
   */
  paidTaskCharge: 1_000,
  claimLeaseMs: 60_000,
  nestedReceipts: 256,

  credentialBytes: 65_536,
  submittedCredentials: 50,

  /** Readers whose last agent cards are cached, and the characters cached for each. */
  cardReaders: 1_000,
  cardReaderCharacters: 65_536,

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
  /** Requests of one agent that wait for the vote of one approver, among those of `pendingApprovalMs`. */
  pendingApprovals: 200,
  /** Older requests are not counted: agents wait no longer, and the relay ends no request. */
  pendingApprovalMs: 3_600_000,
  /** Characters of the arguments of a call that approvers may see, in canonical JSON. */
  approvalArguments: 16_384,
  /** The arguments of a call that its approvers have not decided are kept for so long. */
  approvalArgumentsMs: 86_400_000,
  revokedTokens: 100,
  /** Money of a card payment cannot be withdrawn for so long, because the payment may be reversed. */
  cardHoldMs: 604_800_000,
  pairingTtlMs: 300_000,
  pairingAttempts: 5,
  pairingRetentionMs: 86_400_000,

  successionCharacters: 2_048,
  agentKeys: 1_000,
  successionRecords: 100,
  trustClosure: 1_000,
  trustHops: 32,

  /** The time in which the code of a console session must be used. */
  sessionCodeMs: 300_000,
  /** A console session ends after so long, and earlier when its page was idle. */
  sessionMs: 28_800_000,
  sessionIdleMs: 3_600_000,
  /** A session acts for so long after its code or the master token was given; then it only reads. */
  sessionOperateMs: 600_000,
  /** Console sessions that are open at once. */
  sessions: 100,

  /** Events of the relay are kept for so long, and minutes of its series. */
  relayEventMs: 604_800_000,
  seriesMs: 172_800_000,
  /** The times in which an agent was online are kept for so long. */
  onlineHistoryMs: 604_800_000,
  /** The pause between two polls of a stream for new events of the relay. */
  relayEventPollMs: 250,
  /** Characters of a failed result that the operator's lists show. */
  reasonCharacters: 300,

  tokenLifetimeMs: 300_000,
  clockSkewMs: 300_000,

  socketFrameBytes: 1_048_576,
  /** A socket is closed when its client leaves more unread. */
  socketBacklogBytes: 4_194_304,
  socketMessages: 100,
  socketWindowMs: 10_000,
  socketAuthMs: 5_000,
  socketPingMs: 30_000,
  /** The time in which a client must answer the closing frame. */
  socketCloseMs: 2_000,

  forwardTimeoutMs: 330_000,
  outboundBytes: 2_097_152,
  /** The forward that an intermediate relay shows the next one, without its task. */
  relayedBytes: 16_384,

  /** Requests of a minute of one peer for one operation. */
  federationRequests: 30,
  /**
   * Queries of a minute to one peer. A peer of an earlier version counts all requests together, so the
   * rest of its 30 is left for results, settlements and heartbeats.
   */
  federationQueries: 20,
  /** The same limit for queries for the owner of a new id, which other queries must not use up. */
  federationOwnerQueries: 25,
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

  /** Requests of a minute to cosign one log, counted after its signature was verified. */
  witnessRequests: 120,
  /** The body of a request to cosign: a note of 64 KiB and a proof. */
  witnessBytes: 81_920,
  /** Checkpoints of one log that are kept because they do not fit what was cosigned. */
  witnessEvidence: 16,
  /** The time that a witness has for an answer. */
  witnessTimeoutMs: 2_000,
  /** A relay states its log again after so long, and may begin a generation as often. */
  logStatementMs: 3_600_000,
} as const;

export type Tier = keyof typeof limits.tiers;
