import { operations, type OperationName } from "../../src/operations.ts";

/** An id that no relay has assigned. */
export const UNKNOWN_ID = "019b7d21-53eb-7ccd-926c-3badff397897";

/** The id of an agent that must stay unknown, for operations that would delete the agent. */
const OTHER_UNKNOWN_ID = "019b7d21-53eb-7ccd-926c-3badff397898";

interface Sample {
  readonly agentId?: string;
  readonly query?: string;
  /** A string is sent unchanged. */
  readonly body?: Record<string, unknown> | string;
}

const credential = {
  "@context": ["https://www.w3.org/ns/credentials/v2"],
  id: `urn:uuid:${UNKNOWN_ID}`,
  type: ["VerifiableCredential", "AgentReputationCredential"],
  issuer: "did:key:z6Mk",
  validFrom: "2026-01-01T00:00:00Z",
  credentialSubject: { id: "did:key:z6Mk", task_count: 1 },
  proof: {
    type: "DataIntegrityProof",
    cryptosuite: "eddsa-jcs-2022",
    created: "2026-01-01T00:00:00Z",
    verificationMethod: "did:key:z6Mk#z6Mk",
    proofPurpose: "assertionMethod",
    proofValue: "z1",
  },
};

const relay = {
  relay_id: UNKNOWN_ID,
  public_key: "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
  endpoint_url: "http://127.0.0.1:1",
  display_name: "beta",
};
const signature = "A".repeat(86);
const notice = { relay_id: UNKNOWN_ID, timestamp: 1, signature };
const forwarded = { task_id: UNKNOWN_ID, origin_relay: UNKNOWN_ID };

const federationSamples = {
  relayIdentity: {},
  proposePeer: { body: { ...relay, nonce_a: "0".repeat(64) } },
  confirmPeer: { body: { relay_id: UNKNOWN_ID, challenge_response: signature } },
  peerHeartbeat: { body: { ...notice, agent_count: 1 } },
  removeSelf: { body: notice },
  listPeers: {},
  forwardDiscovery: {
    body: {
      capability: "summarise",
      hop_count: 0,
      max_hops: 3,
      visited: [],
      query_id: UNKNOWN_ID,
      origin_relay: UNKNOWN_ID,
    },
  },
  forwardTask: {
    body: {
      ...forwarded,
      target_agent: UNKNOWN_ID,
      task_payload: { prompt: "work" },
      budget: { amount: 1, currency: "USD" },
      signature,
    },
  },
  cancelForwardedTask: { body: { task_id: UNKNOWN_ID, origin_relay: relay.relay_id } },
  returnResult: {
    body: { ...forwarded, receipt: {}, public_key: relay.public_key, attestation: {} },
  },
  forwardSettlement: {
    body: {
      ...forwarded,
      settlement_id: UNKNOWN_ID,
      agent_id: UNKNOWN_ID,
      receipt_hash: "0".repeat(64),
      gross_amount: 1,
      fee_rate: 0.05,
      fee_amount: 0.05,
      amount: 0.95,
      currency: "USD",
      settled_at: 1,
      signature,
    },
  },
  listBooked: { query: "limit=10" },
  addPeer: { body: { endpoint_url: "http://127.0.0.1:1" } },
  listFederationPeers: {},
  setPeerCredit: { body: { credit_limit: 1 } },
  removePeer: {},
  clearPeerDefaults: { body: { reason: "lost" } },
  settlePeer: { body: { amount: 1, direction: "sent", reference: "wire 1" } },
  listPeerPayments: { query: "limit=10" },
  listPeerHistory: { query: "limit=10" },
  listOutbox: { query: "limit=10" },
  retryOutbox: {},
  giveUpOutbox: { body: { reason: "lost" } },
} as const satisfies Record<string, Sample>;

const statement = {
  task_id: UNKNOWN_ID,
  receipt_hash: "0".repeat(64),
  timestamp: 1,
  suite: "x",
  signature,
};

/** A well-formed request for every operation, which may still be refused. */
export const samples: { readonly [N in OperationName]: Sample } = {
  health: {},
  live: {},
  ready: {},
  relayInfo: {},
  openApi: {},
  metrics: {},
  docs: {},
  reconcile: {},
  getCheckpoint: {},
  getLatestCheckpoint: {},
  getLogTile: {},
  getLogProof: { query: `artifact=${"0".repeat(64)}` },
  getLogState: {},
  bootstrap: {
    body: {
      agent_id: UNKNOWN_ID,
      public_key: "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
      succession: {},
      proof: { timestamp: 1, signature: "A" },
    },
  },
  registerAgent: {
    body: {
      agent_id: UNKNOWN_ID,
      endpoint_url: "http://127.0.0.1:1/mcp",
      capabilities: ["summarise"],
      metadata: { name: "worker", description: "does work" },
      federation_visible: true,
      public_key: "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
      succession: {},
    },
  },
  heartbeat: { body: { agent_id: UNKNOWN_ID } },
  discover: { query: "capability=summarise&q=work&limit=10" },
  getAgent: {},
  deregisterAgent: {},
  putListing: {
    body: {
      capabilities: ["summarise"],
      pricing: [{ capability: "summarise", unit_cost: 2, currency: "USD", per: "task" }],
      sla: { max_latency_ms: 1_000, availability_guarantee: 0.9 },
      description: "does work",
      pay_to_address: "0x0000000000000000000000000000000000000001",
    },
  },
  getListing: {},
  getDevice: {},
  relayCard: {},
  agentCard: {},
  callAgent: {
    body: { jsonrpc: "2.0", id: 1, method: "GetTask", params: { id: UNKNOWN_ID } },
  },
  submitTask: {
    body: {
      prompt: "work",
      submitted_by: UNKNOWN_ID,
      required_capabilities: ["summarise"],
      wall_clock_ms: 1_000,
      step_id: "step-1",
      exploration_drive: 0.5,
      exclude_agents: ["another"],
      max_budget: 3,
    },
  },
  getEvidence: {},
  giveVerdict: {
    body: {
      ...statement,
      agent_id: UNKNOWN_ID,
      verdict: "accepted",
    },
  },
  decideDispute: {
    body: { ...statement, arbiter_id: UNKNOWN_ID, share: 0.5, reason: "half of it is there" },
  },
  getInspection: {},
  listInspections: { query: "role=executor&limit=10" },
  listDisputes: { query: "limit=10" },
  listAllInspections: { query: "state=closed&limit=10" },
  getRouting: {},
  getTask: { query: "wait=0" },
  getTaskEvents: { query: "after=0" },
  listTasks: { query: "status=pending&submitted_by=me" },
  cancelTask: {},
  eraseTaskTexts: {},
  claimTask: {},
  reportProgress: { body: { note: "half" } },
  releaseClaim: {},
  postResult: {
    body: {
      task_id: UNKNOWN_ID,
      relay_task_id: UNKNOWN_ID,
      agent_id: UNKNOWN_ID,
      device_id: UNKNOWN_ID,
      public_key: "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
      submitted_at: 1,
      completed_at: 2,
      status: "completed",
      result: "done",
      tools_used: ["tool"],
      memories_formed: 0,
      prompt_hash: "00".repeat(32),
      result_hash: "00".repeat(32),
      delegation_receipts: [],
      delegated_scope: "tool",
      suite: "agent-jcs-ed25519-b64-v1",
      signature: "A".repeat(86),
    },
  },
  getBalance: {},
  listTransactions: { query: "limit=10" },
  listSettlements: { query: "limit=10" },
  deposit: { body: { amount: 1, currency: "USD", reference: "r-1", description: "a deposit" } },
  requestWithdrawal: { body: { amount: 1, destination: "IBAN 1" } },
  listAccounts: { query: "limit=10" },
  listWithdrawals: { query: "limit=10" },
  listAllWithdrawals: { query: "status=pending&limit=10" },
  completeWithdrawal: { body: { payout_reference: "p-1" } },
  failWithdrawal: { body: { reason: "no such account" } },
  getStatement: { query: "from=0&to=1&format=json" },
  createWebhook: { body: { url: "https://hook.example/x", events: ["task.completed"] } },
  listWebhooks: {},
  deleteWebhook: {},
  testWebhook: {},
  createCheckout: { body: { amount: 1, return_url: "https://shop.example/done" } },
  stripeWebhook: { body: { id: "evt_1" } },
  getOverview: {},
  getSeries: { query: "metric=submitted&step=60000" },
  listAllTasks: { query: "failed=1&limit=10" },
  getTaskReport: {},
  getTaskTexts: {},
  listAllAgents: { query: "state=registered&sort=seen&limit=10" },
  getOnlineHistory: { query: "from=0" },
  listHolds: { query: "older_than=60000&limit=10" },
  listProcesses: {},
  listRelayEvents: { query: "after=0&limit=10" },
  listOperatorAudit: { query: "actor=operator&limit=10" },
  listAllApprovals: { query: "status=pending&limit=10" },
  getFreeze: {},
  createSessionCode: { body: { level: "view" } },
  openConsoleSession: { body: { code: "a code" } },
  renewConsoleSession: {},
  closeConsoleSession: {},
  listConsoleSessions: {},
  revokeConsoleSession: {},
  freeze: { body: { reason: "an audit" } },
  unfreeze: {},
  resolvePayment: { body: { outcome: "failed", reason: "not on the chain" } },
  acceptClock: {},
  listCandidates: { query: "capability=summarise&max_budget=3&limit=10" },
  getVisibility: {},
  listDevices: { query: "limit=10" },
  revokeDevice: {},
  revokeAgent: { agentId: OTHER_UNKNOWN_ID, body: { reason: "lost" } },
  revokeTokens: { body: { jtis: ["019b7d21-53eb-7ccd-926c-3badff397899"] } },
  initiatePairing: { body: { agent_id: UNKNOWN_ID } },
  claimPairing: {
    body: {
      pairing_code: "ABC234",
      device_name: "a phone",
      public_key: "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
    },
  },
  getPairing: {},
  approvePairing: { body: { scopes: ["task:read"] } },
  denyPairing: {},
  requestApproval: {
    body: {
      approval_id: "approval-1",
      tool_name: "pay",
      args_hash: "00".repeat(32),
      quorum_required: 1,
      quorum_approvers: [UNKNOWN_ID],
    },
  },
  listApprovals: { query: "status=pending&as=approver&limit=10" },
  getApproval: {},
  voteOnApproval: {
    body: { approver_id: UNKNOWN_ID, decision: "approve", signature: "A".repeat(86) },
  },
  useApproval: { body: { tool_name: "pay", args_hash: "00".repeat(32) } },
  rotateKey: { body: { succession: {} } },
  getSuccession: {},
  getTrust: {},
  setTrustLevel: { body: { trust_level: "blocked" } },
  getTrustClosure: {},
  getTrustPath: {},
  listTrust: { query: "limit=10" },
  listTrustReceived: { query: "limit=10" },
  listCredentials: { query: "type=AgentReputationCredential&limit=10" },
  submitCredentials: { body: { credentials: [credential] } },
  presentCredentials: {
    query: "type=AgentReputationCredential",
    body: { audience: "did:key:z6Mk", challenge: "c-1" },
  },
  verifyCredential: { body: credential },
  revokeCredential: { body: { credential_id: `urn:uuid:${UNKNOWN_ID}`, reason: "a mistake" } },
  credentialStatus: {},
  storeLedger: {
    body: {
      spec: "agent/execution-ledger@1.0",
      agent_id: UNKNOWN_ID,
      goal_id: "goal-1",
      plan_id: "plan-1",
      started_at: 1,
      completed_at: 2,
      status: "completed",
      timeline: [{ timestamp: 1, type: "goal_started", payload: { goal_id: "goal-1" } }],
      steps: [],
      delegation_receipts: [],
      content_hash: "00".repeat(32),
      signature: "A".repeat(86),
    },
  },
  getLedger: {},
  getManifest: {},
  putPlan: {
    body: {
      plan_id: "plan-1",
      goal_id: "goal-1",
      title: "a plan",
      status: "active",
      steps: [
        {
          step_id: "step-1",
          ordinal: 0,
          description: "a step",
          status: "delegated",
          tools_used: ["tool"],
          tool_calls: 1,
          started_at: 1,
          completed_at: null,
          delegation: { receipt_hash: "00".repeat(32) },
        },
      ],
    },
  },
  listPlans: { query: "goal_id=goal-1&limit=10" },
  getPlan: {},
  putConversation: {
    body: { conversation_id: "talk-1", title: "a talk", started_at: 1, last_active_at: 2 },
  },
  listConversations: { query: "limit=10" },
  getConversation: {},
  addMessages: {
    body: { messages: [{ message_id: "m-1", role: "user", content: "hello", created_at: 1 }] },
  },
  listMessages: { query: "limit=10" },
  appendEvents: {
    body: {
      events: [
        {
          event_id: "event-1",
          type: "goal_started",
          timestamp: 1,
          goal_id: "goal-1",
          payload: { goal_id: "goal-1" },
        },
      ],
    },
  },
  listEvents: { query: "goal_id=goal-1&limit=10" },
  getEvent: {},
  listGoals: { query: "limit=10" },
  getState: {},
  listAudit: { query: "limit=10" },
  listReceipts: { query: "limit=10" },
  ...federationSamples,
  addCheckpoint: { body: "old 0\n\nlog.example\n" },
  getWitnessedCheckpoint: {},
  getReceipt: {},
};

/** Builds the operation's path with its parameters filled in and its sample's query. */
export function buildPath(
  name: OperationName,
  agentId = samples[name].agentId ?? UNKNOWN_ID,
): string {
  const path = operations[name].path.replace(":agentId", agentId).replaceAll(/:\w+/g, UNKNOWN_ID);
  const { query } = samples[name];
  return query === undefined ? path : `${path}?${query}`;
}
