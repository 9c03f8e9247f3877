import { SUITE } from "@agent/crypto";
import type { JsonObject } from "../../named-schemas.ts";
import {
  WORKER,
  SUBMITTER,
  TASK,
  RELAY,
  ROW,
  DID,
  KEY,
  HASH,
  SIGNATURE,
  TIME,
  CHECKPOINT,
  sampleTimes,
} from "./sample-parts.ts";

/** An object, or the name of a named schema whose example to use. */
export type Sample = JsonObject | string;

const STEP: JsonObject = {
  old_public_key: HASH,
  new_public_key: KEY,
  timestamp: sampleTimes.now,
  reason: "annual",
  suite: SUITE,
  old_key_signature: SIGNATURE,
  new_key_signature: SIGNATURE,
};

const SUCCESSION: JsonObject = { agent_id: WORKER, ...STEP };
const RELAY_SUCCESSION: JsonObject = { relay_id: RELAY, ...STEP };

/** The objects whose members the contract does not list, by their member, operation or `operation.member`. */
export const objectSamples: Readonly<Record<string, Sample>> = {
  succession: SUCCESSION,
  "relayInfo.succession": RELAY_SUCCESSION,
  "relayIdentity.succession": RELAY_SUCCESSION,
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
  getEvidence: {
    spec: "agent/evidence@1.0",
    suite: SUITE,
    relay_id: RELAY,
    issuer: DID,
    created_at: sampleTimes.now,
    task: { task_id: TASK, status: "completed" },
    routing: { executors: [] },
    receipt: { task_id: TASK, agent_id: WORKER, status: "completed" },
    signers: [],
    attestation: { task_id: TASK, receipt_hash: HASH, attested_at: sampleTimes.now },
    settlements: [],
    postings: [],
    credential: null,
    signature: SIGNATURE,
  },
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
    suite: SUITE,
    signature: SIGNATURE,
  },
};

/** Whole bodies whose members depend on each other, by operation, or by operation and status. */
export const bodySamples: Readonly<Record<string, JsonObject>> = {
  reconcile: {
    consistent: true,
    checks: [
      {
        code: "sum_not_zero",
        name: "the balances of all accounts sum to 0",
        ok: true,
        count: 0,
        ids: [],
        detail: "0 micro-units",
      },
    ],
    totals: {
      deposits: 10,
      withdrawals: 4,
      balances: 4.9,
      holds: 1,
      fees: 0.1,
      peers: 0,
      card_reversals: 0,
    },
  },
  unfreeze: { frozen: false, reason: null, since: null },
  "cancelForwardedTask 202": {
    status: "pending",
    task_id: TASK,
    relay_id: RELAY,
    timestamp: sampleTimes.now,
    suite: SUITE,
    signature: SIGNATURE,
  },
  "returnResult 202": { status: "pending" },
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

/** Bodies that are text, by operation and media type. */
export const textSamples: Readonly<Record<string, string>> = {
  "metrics text/plain; version=0.0.4; charset=utf-8": "agent_relay_open_tasks 3\n",
  "docs text/html; charset=utf-8": "<!doctype html>",
  "getTaskEvents text/event-stream": `id: 1\nevent: submitted\ndata: {"event_id":1,"type":"submitted","at":${sampleTimes.now},"task_id":"${TASK}"}\n\n`,
  "listRelayEvents text/event-stream": `id: 1\nevent: task.completed\ndata: {"sequence":1,"at":${sampleTimes.now},"type":"task.completed"}\n\n`,
  "callAgent text/event-stream": 'data: {"jsonrpc":"2.0","id":1,"result":{}}\n\n',
  "getStatement text/csv": `created_at,transaction_id,type,amount,balance_after,reference_id,description\r\n${TIME},${ROW},deposit,10,10,invoice 17,\r\n`,
  "getCheckpoint text/plain; charset=utf-8": CHECKPOINT,
  "getLatestCheckpoint text/plain; charset=utf-8": CHECKPOINT,
  "getWitnessedCheckpoint text/plain; charset=utf-8": CHECKPOINT,
  "getLogTile application/octet-stream": "(the bytes of a tile)",
  "getLogProof text/plain; charset=utf-8": `c2sp.org/tlog-proof@v1\nindex 7\n\n${CHECKPOINT}`,
  "addCheckpoint text/plain": `old 41\n\n${CHECKPOINT}`,
  "addCheckpoint text/plain; charset=utf-8": `— witness.example ${"A".repeat(92)}\n`,
  "addCheckpoint text/x.tlog.size": "42\n",
};
