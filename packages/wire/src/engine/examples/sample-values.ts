import type { JsonObject } from "../../named-schemas.ts";

/** An object, or the name of a named schema whose example to use. */
export type Sample = JsonObject | string;

/** A point in time and a duration, in ms. */
export const sampleTimes = { now: 1_767_330_894_000, duration: 60_000 } as const;

const WORKER = "01890000-0000-7000-8000-0000000000a1";
const SUBMITTER = "01890000-0000-7000-8000-0000000000b2";
const ARBITER = "01890000-0000-7000-8000-0000000000c3";
const TASK = "01890000-0000-7000-8000-0000000000d4";
const PARENT = "01890000-0000-7000-8000-0000000000d5";
const RELAY = "01890000-0000-7000-8000-0000000000e5";
const PEER = "01890000-0000-7000-8000-0000000000e6";
const ROW = "01890000-0000-7000-8000-0000000000f7";
const DID = "did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp";
const KEY = "3b6a27bcceb6a42d62a3a8d02a6f0d73653215771de243a63ac048a18b59da29";
const HASH = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
const SIGNATURE = `${"ZXhhbXBsZS1vZi1hLXNpZ25hdHVyZS1pbi1iYXNlNjR1cmw_".repeat(2).slice(0, 85)}A`;
const TOKEN = "eyJhbGciOiJFZERTQSJ9.eyJpc3MiOiIuLi4ifQ.c2lnbmF0dXJl";
const TIME = "2026-01-02T05:14:54.000Z";

/** The texts of members, by the ending of their name. */
export const endingSamples: readonly (readonly [RegExp, string])[] = [
  [/_hash$/, HASH],
  [/(_key|nonce_[ab])$/, KEY],
  [/(^|_)ids?$|_approvers$|^jtis$/, ROW],
];

/**
 * The texts of members, by name. A text that the schema's pattern refuses is replaced by the first one that
 * fits.
 */
export const stringSamples: Readonly<Record<string, string>> = {
  agent_id: WORKER,
  account: SUBMITTER,
  actor: "operator",
  action: "deposit",
  approver_id: ARBITER,
  arbiter_id: ARBITER,
  arbiters: ARBITER,
  assigned_to: WORKER,
  audience: DID,
  base_url: "https://relay.example",
  by: "operator",
  capabilities: "summarize",
  capability: "summarize",
  challenge: SIGNATURE,
  checkout_url: "https://pay.example/checkout/1",
  children: TASK,
  code: "task.no_candidate",
  content: "The text is about trees.",
  created: TIME,
  delegated_scope: "task:submit",
  description: "Summarizes texts in three sentences.",
  destination: "DE00 0000 0000 0000",
  did: DID,
  display_name: "Summarizer",
  domain: "relay.example",
  endpoint_url: "https://agent.example/mcp",
  error: "no agent fits the task",
  exclude_agents: ARBITER,
  executor_id: WORKER,
  expires: TIME,
  issuer: DID,
  message: "The text is about trees.",
  name: "summarizer",
  next_cursor: "MTc2NzMzMDg5NDAwMA",
  note: "half of the text is read",
  pairing_code: "ABCD-EFGH",
  parent_task_id: PARENT,
  path: "/api/v1/agents",
  pay_to_address: `0x${"ab".repeat(20)}`,
  payee_id: WORKER,
  payer_id: SUBMITTER,
  payout_reference: "bank transfer 4711",
  prompt: "Summarize the text at https://example.org/trees.txt in three sentences.",
  proofValue: SIGNATURE,
  reason: "Rows 7 to 9 are missing.",
  reference: "invoice 17",
  relay_did: DID,
  relay_id: RELAY,
  relay_name: "relay.example",
  remote_agent_id: WORKER,
  required_capabilities: "summarize",
  result: "The text is about trees.",
  return_url: "https://agent.example/paid",
  routing_paths: WORKER,
  selected_agent: WORKER,
  sentence: "No agent offers the capability.",
  signature: SIGNATURE,
  signature_prefix: SIGNATURE.slice(0, 16),
  source_relay: PEER,
  origin_relay: PEER,
  submitted_by: SUBMITTER,
  submitter_id: SUBMITTER,
  subject: DID,
  target_agent: WORKER,
  task_id: TASK,
  relay_task_id: TASK,
  title: "Summarize the text",
  token: TOKEN,
  tool: "summarize",
  tool_name: "summarize",
  tools_used: "summarize",
  url: "https://agent.example/events",
  validFrom: TIME,
  validUntil: TIME,
  verificationMethod: DID,
  version: "1.0.0",
  vkey: "relay.example/log+1a2b3c4d+AQID",
  x402_network: "base",
  x402_tx_hash: `0x${"cd".repeat(32)}`,
  "@context": "https://www.w3.org/ns/credentials/v2",
  algorithm: "semiring",
  channel: "socket",
  check: "database",
  cryptosuite: "eddsa-jcs-2022",
  detail: "answered in 2 ms",
  device_name: "phone",
  fingerprint: "3b6a 27bc ceb6 a42d",
  features: "signed_accepted",
  from: SUBMITTER,
  held: "",
  hints: "Open a socket, or register an address that the relay can reach.",
  hold: TASK,
  job: "purge",
  last_error: "the peer did not answer",
  method: "SendMessage",
  metric: "completed",
  opened_by: "operator",
  origin: "relay.example/log",
  per: "task",
  prefix: "https://witness.example",
  proofPurpose: "assertionMethod",
  q: "trees",
  reasons: "credential.revoked",
  role: "agent",
  scopes: "task:read",
  secret: "whsec_c2VjcmV0LW9mLXRoZS13ZWJob29r",
  step_id: "step-1",
  goal_id: "goal-1",
  plan_id: "plan-1",
  source: SUBMITTER,
  target: WORKER,
  to: WORKER,
  type: "task.completed",
  task_status: "completed",
  trust_level: "verified",
  visited: PEER,
  peers: PEER,
  witness_vkey: "witness.example+1a2b3c4d+AQID",
  status: "completed",
  message_id: "message-1",
  event_id: "event-1",
  request_id: ROW,
  id: ROW,
  suite: "eddsa-jcs-2022",
  witness_prefix: "https://witness.example/2026",
  timestamp: TIME,
};

/** The numbers of members, by name; the bounds of the schema take precedence. */
export const numberSamples: Readonly<Record<string, number>> = {
  fee: 0.05,
  fee_min: 0.01,
  fee_rate: 0.05,
  platform_fee_rate: 0.05,
  net: 0.95,
  share: 0.5,
  offer: 0.5,
  availability: 0.99,
  availability_guarantee: 0.99,
};

const SUCCESSION: JsonObject = {
  agent_id: WORKER,
  old_public_key: HASH,
  new_public_key: KEY,
  timestamp: sampleTimes.now,
  reason: "annual",
  suite: "eddsa-jcs-2022",
  old_key_signature: SIGNATURE,
  new_key_signature: SIGNATURE,
};

/** The objects whose members the contract does not list, by their member or operation. */
export const objectSamples: Readonly<Record<string, Sample>> = {
  succession: SUCCESSION,
  chain: SUCCESSION,
  receipt: "ExecutionReceipt",
  getReceipt: "ExecutionReceipt",
  getLedger: "ExecutionLedger",
  credential: "VerifiableCredential",
  credentials: "VerifiableCredential",
  settlement: "Settlement",
  metadata: { name: "summarizer", description: "Summarizes texts.", agent_type: "service" },
  payload: { text: "The text is about trees." },
  peers: { active: 2 },
  getEvidence: { version: 1, task_id: TASK, relay_did: DID, signature: SIGNATURE },
  openApi: { openapi: "3.1.0", info: { title: "Agent Delegation Relay", version: "1.0.0" } },
  relayCard: { name: "relay.example", version: "1.0.0", skills: [] },
  agentCard: { name: "summarizer", version: "1.0.0", skills: [{ id: "summarize" }] },
  stripeWebhook: { id: "evt_1", type: "checkout.session.completed", data: { object: {} } },
  presentation: { type: ["VerifiablePresentation"], holder: DID },
  params: { message: { messageId: "order-1", role: "ROLE_USER", parts: [{ text: "Hello" }] } },
  delegation_token: {
    token_id: ROW,
    issuer_agent_id: SUBMITTER,
    issuer_public_key: KEY,
    delegate_agent_id: WORKER,
    scope: "summarize",
    not_before: sampleTimes.now,
    expires_at: sampleTimes.now + sampleTimes.duration,
    suite: "eddsa-jcs-2022",
    signature: SIGNATURE,
  },
};

/** Whole bodies whose members depend on each other, by operation. */
export const bodySamples: Readonly<Record<string, JsonObject>> = {
  callAgent: { jsonrpc: "2.0", id: 1, result: { task: { id: TASK } } },
  getOnlineHistory: {
    agent_id: WORKER,
    from: sampleTimes.now - 86_400_000,
    to: sampleTimes.now,
    spans: [{ from: sampleTimes.now - 7_200_000, until: sampleTimes.now - 30_000 }],
    watched: [{ from: sampleTimes.now - 86_400_000, until: sampleTimes.now - 30_000 }],
  },
};

/** Examples of named schemas whose rules would be broken by a sample for each member. */
export const namedSamples: Readonly<Record<string, JsonObject>> = {
  VerifiableCredential: {
    "@context": ["https://www.w3.org/ns/credentials/v2"],
    id: `urn:uuid:${ROW}`,
    type: ["VerifiableCredential", "AgentReputationCredential"],
    issuer: DID,
    validFrom: TIME,
    credentialSubject: { id: DID },
    proof: {
      type: "DataIntegrityProof",
      cryptosuite: "eddsa-jcs-2022",
      created: TIME,
      verificationMethod: `${DID}#${DID.slice("did:key:".length)}`,
      proofPurpose: "assertionMethod",
      proofValue: `z${"3".repeat(87)}`,
    },
  },
};

/** The optional members that a request usually has, by operation; other optional ones are left out. */
export const requestMembers: Readonly<Record<string, readonly string[]>> = {
  bootstrap: ["proof"],
  registerAgent: ["metadata"],
  putListing: ["pricing", "description"],
  submitTask: ["required_capabilities", "max_budget"],
  deposit: ["reference"],
  reportProgress: ["note"],
  freeze: ["reason"],
  revokeAgent: ["reason"],
  revokeCredential: ["reason"],
  createSessionCode: ["level"],
  openConsoleSession: ["code"],
  callAgent: ["params"],
};

const CHECKPOINT = `relay.example/log\n42\n${"A".repeat(43)}=\n\n— relay.example/log ${"A".repeat(92)}\n`;

/** Bodies that are text, by operation and media type. */
export const textSamples: Readonly<Record<string, string>> = {
  "metrics text/plain; version=0.0.4; charset=utf-8": "agent_relay_open_tasks 3\n",
  "docs text/html; charset=utf-8": "<!doctype html>",
  "getTaskEvents text/event-stream": `id: 1\ndata: {"type":"submitted","at":${sampleTimes.now}}\n\n`,
  "listRelayEvents text/event-stream": `id: 1\ndata: {"sequence":1,"at":${sampleTimes.now},"type":"task.completed"}\n\n`,
  "callAgent text/event-stream": 'data: {"jsonrpc":"2.0","id":1,"result":{}}\n\n',
  "getStatement text/csv": `transaction_id,type,amount\n${ROW},deposit,10\n`,
  "getCheckpoint text/plain; charset=utf-8": CHECKPOINT,
  "getLatestCheckpoint text/plain; charset=utf-8": CHECKPOINT,
  "getWitnessedCheckpoint text/plain; charset=utf-8": CHECKPOINT,
  "getLogTile application/octet-stream": "(the bytes of a tile)",
  "getLogProof text/plain; charset=utf-8": `c2sp.org/tlog-proof@v1\nindex 7\n\n${CHECKPOINT}`,
  "addCheckpoint text/plain": `old 41\n\n${CHECKPOINT}`,
  "addCheckpoint text/plain; charset=utf-8": `— witness.example ${"A".repeat(92)}\n`,
  "addCheckpoint text/x.tlog.size": "42\n",
};
