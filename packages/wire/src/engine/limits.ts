/** The numbers in the specification's "Limits" and those that it leaves open (docs/decisions.md, 1 and 4). */
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

  /** Events of one task, not counting its first and last one. */
  taskEvents: 1_000,
  /** The total size of one task's notes, in UTF-8; notes beyond it are dropped. */
  taskNoteBytes: 65_536,
  /** Events that a stream reads at once. */
  eventPage: 32,
  streamKeepAliveMs: 15_000,
  /** The time without progress after which a stream that its reader does not read is closed. */
  streamStallMs: 30_000,
  /** Open event streams of one agent, for one task and for all tasks. */
  streamsPerTask: 8,
  streamsPerCaller: 64,
  /** Open event streams of the operator. */
  operatorStreams: 1_024,

  /** Requests of one connection that are answered concurrently. */
  connectionAnswers: 8,
  /** The time without progress after which a connection whose client does not read its answer is closed. */
  answerStallMs: 75_000,

  defaultPageSize: 50,
  maxPageSize: 200,
  /**
   * A page of a list has as many entries as fit, but at least one, because clients refuse answers of more
   * than 2 MiB.
   */
  pageBytes: 1_048_576,
  /** Agents whose texts are searched for one page of discovery results. */
  searchedAgents: 10_000,
  /** Words of one search text. */
  searchedWords: 16,
  /** The longest `wait` of a long poll. */
  pollWaitSeconds: 60,
  /** Movements of a statement as comma-separated values, which has no pages. */
  statementRows: 10_000,
  /** Pending withdrawals of one agent, because the operator must pay or refuse each of them. */
  pendingWithdrawals: 20,
  /** Devices of one agent that are not revoked, because a receipt may be checked against the key of each. */
  devices: 100,
  /**
   * Other ids that may claim a key without proof, because the first proof ends all these claims in one
   * transaction.
   */
  unprovenBindings: 20,
  /** Webhooks of one agent. */
  webhooks: 20,

  taskTtlMs: 900_000,
  /** The longest `window_ms` of an inspection before payment, and the shortest one that any relay allows. */
  maxInspectionWindowMs: 1_209_600_000,
  minInspectionWindowMs: 100,
  /** Arbiters that a listing accepts besides the operator. */
  listedArbiters: 10,
  /** Open inspections that a listing accepts. */
  openInspections: 10_000,
  /** Cases that one arbiter has at a time; further ones go to the operator. */
  arbiterCases: 100,
  /** The time for which an arbiter may read a case after it was closed. */
  arbiterAccessMs: 2_592_000_000,
  /** The shortest `ttl_ms` of a submission. */
  minTaskTtlMs: 60_000,
  liveTasks: 100_000,
  liveTasksPerSubmitter: 1_000,
  /**
   * The price in micro-units from which a task may use a tenth of the slots that free tasks leave; ten
   * times that price allows another tenth, and so on.
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
  /** Distinct combinations of capability and budget in one plan, each of which is a search for agents. */
  planSearches: 10,
  recordBatch: 100,
  eventCharacters: 16_384,
  goalEvents: 10_000,

  approvers: 50,
  /**
   * Requests of one agent that wait for the vote of one approver, among those no older than
   * `pendingApprovalMs`.
   */
  pendingApprovals: 200,
  /**
   * The age up to which a request counts as pending. Agents do not wait longer, and the relay never ends a
   * request.
   */
  pendingApprovalMs: 3_600_000,
  /** Characters of a call's arguments that approvers may see, in canonical JSON. */
  approvalArguments: 16_384,
  /** The time for which the arguments of an undecided call are kept. */
  approvalArgumentsMs: 86_400_000,
  revokedTokens: 100,
  /**
   * The time for which money from a card payment cannot be withdrawn, because the payment may be reversed.
   */
  cardHoldMs: 604_800_000,
  pairingTtlMs: 300_000,
  pairingAttempts: 5,
  pairingRetentionMs: 86_400_000,

  successionCharacters: 2_048,
  agentKeys: 1_000,
  successionRecords: 100,
  trustClosure: 1_000,
  trustHops: 32,

  /** The time within which the code of a console session must be used. */
  sessionCodeMs: 300_000,
  /** The maximum length of a console session; it ends earlier when its page was idle. */
  sessionMs: 28_800_000,
  sessionIdleMs: 3_600_000,
  /**
   * The time for which a session may act after its code or the master token was given; then it only reads.
   */
  sessionOperateMs: 600_000,
  /** Console sessions that may be open at once. */
  sessions: 100,

  /** The time for which events of the relay and the minutes of its series are kept. */
  relayEventMs: 604_800_000,
  seriesMs: 172_800_000,
  /** The time for which an agent's online history is kept. */
  onlineHistoryMs: 604_800_000,
  /** The pause between two polls for new events of the relay, for a stream. */
  relayEventPollMs: 250,
  /** Characters of a failed result that the operator's lists show. */
  reasonCharacters: 300,

  tokenLifetimeMs: 300_000,
  clockSkewMs: 300_000,

  socketFrameBytes: 1_048_576,
  /** The unread bytes beyond which a socket is closed. */
  socketBacklogBytes: 4_194_304,
  socketMessages: 100,
  socketWindowMs: 10_000,
  socketAuthMs: 5_000,
  socketPingMs: 30_000,
  /** The time within which a client must answer the closing frame. */
  socketCloseMs: 2_000,

  forwardTimeoutMs: 330_000,
  outboundBytes: 2_097_152,
  /** The size of the forward, without its task, that an intermediate relay shows the next one. */
  relayedBytes: 16_384,

  /** Requests per minute of one peer for one operation. */
  federationRequests: 30,
  /**
   * Queries per minute to one peer. A peer with an earlier version counts all requests together, so the
   * rest of its 30 is left for results, settlements and heartbeats.
   */
  federationQueries: 20,
  /** The same limit for queries about the owner of a new id, which other queries must not use up. */
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

  /** Requests per minute to cosign one log, counted after its signature was verified. */
  witnessRequests: 120,
  /** The size of a request to cosign: a note of 64 KiB and a proof. */
  witnessBytes: 81_920,
  /** Checkpoints of one log that are kept because they contradict the cosigned head. */
  witnessEvidence: 16,
  /** The time within which a witness must answer. */
  witnessTimeoutMs: 2_000,
  /** The time after which a relay states its log again, and between two new generations of it. */
  logStatementMs: 3_600_000,
} as const;

export type Tier = keyof typeof limits.tiers;
