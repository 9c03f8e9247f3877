import { createPresentation, issueCredential } from "@agent/credentials";
import {
  bytesToHex,
  deriveAgentId,
  generateKeyPair,
  publicKeyToDidKey,
  sha256Hex,
  signSuccession,
} from "@agent/crypto";
import { type LedgerBody, signLedger } from "@agent/ledger";
import {
  attenuateDelegationToken,
  hashReceipt,
  signAttestation,
  signDelegationToken,
  signReceipt,
  signNoShowRecord,
  signSettlementRecord,
} from "@agent/receipts";
import { createSeededRandom } from "@agent/testkit";
import { formatBundle, signBundle } from "../src/index.ts";
import { createDelegation, START_TIME } from "./create-delegation.ts";

export const now = START_TIME;

/** A signer whose keys are derived from a number. */
export function createSigner(seed: number) {
  const { publicKey, secretKey } = generateKeyPair(new Uint8Array(32).fill(seed));
  return { publicKey: bytesToHex(publicKey), secretKey, did: publicKeyToDidKey(publicKey) };
}

export const [alice, bob, carol] = [createSigner(1), createSigner(2), createSigner(3)];

const id = (last: number) => `019b7d21-53eb-7c81-b2f1-${String(last).padStart(12, "0")}`;
export const [taskId, aliceId, bobId, carolId, relayId] = [id(1), id(2), id(3), id(4), id(5)];

export const receipt = signReceipt(
  {
    task_id: taskId,
    relay_task_id: taskId,
    agent_id: aliceId,
    public_key: alice.publicKey,
    device_id: id(6),
    submitted_at: now - 1_000,
    completed_at: now,
    status: "completed",
    result: "done",
    tools_used: ["read"],
    memories_formed: 0,
    prompt_hash: sha256Hex("do"),
    result_hash: sha256Hex("done"),
  },
  alice.secretKey,
);

export const credential = issueCredential({
  type: "AgentTrustCredential",
  subject: {
    id: bob.did,
    trust_level: "verified",
    interaction_count: 5,
    successful_tasks: 5,
    failed_tasks: 0,
    first_seen_at: 0,
    last_seen_at: now,
  },
  secretKey: alice.secretKey,
  now,
});

export const presentation = createPresentation({
  credentials: [credential],
  secretKey: bob.secretKey,
  now,
});

const ledgerBody: LedgerBody = {
  agent_id: aliceId,
  goal_id: "goal",
  plan_id: "plan",
  started_at: now - 10,
  completed_at: now,
  status: "completed",
  timeline: [
    { timestamp: now - 10, type: "goal_started", payload: { goal_id: "goal" } },
    { timestamp: now, type: "goal_completed", payload: { status: "completed" } },
  ],
  steps: [],
};
export const ledger = signLedger(ledgerBody, alice.secretKey);

const step = (from: typeof alice, to: typeof alice, timestamp: number) =>
  signSuccession({
    agent_id: aliceId,
    oldSecretKey: from.secretKey,
    newSecretKey: to.secretKey,
    timestamp,
  });
export const succession = [step(alice, bob, 10), step(bob, carol, 20)];

export const settlement = signSettlementRecord(
  {
    settlement_id: id(7),
    allocation_id: id(8),
    task_id: taskId,
    payer_id: bobId,
    payee_id: aliceId,
    receipt_hash: hashReceipt(receipt),
    ledger_hash: null,
    amount_settled: 2,
    fee: 0.1,
    net: 1.9,
    status: "completed",
    settled_at: now,
    issuer: carol.did,
  },
  carol.secretKey,
);

export const noShow = signNoShowRecord(
  {
    task_id: taskId,
    agent_id: aliceId,
    claimed_at: now,
    lapsed_at: now + 60_000,
    wall_clock_ms: 60_000,
    priced: true,
    issuer: carol.did,
  },
  carol.secretKey,
);

export const attestation = signAttestation(
  {
    relay_id: relayId,
    task_id: taskId,
    receipt_hash: hashReceipt(receipt),
    received_at: now,
    attested_at: now,
  },
  carol.secretKey,
);

export const rootToken = signDelegationToken(
  {
    token_id: id(9),
    issuer_agent_id: aliceId,
    issuer_public_key: alice.publicKey,
    // Only an id of version 8 shows by itself whose key signed the next token.
    delegate_agent_id: deriveAgentId(bob.publicKey),
    scope: "read,write",
    not_before: now - 1_000,
    expires_at: now + 1_000,
  },
  alice.secretKey,
);
export const token = attenuateDelegationToken(
  rootToken,
  { token_id: id(10), delegate_agent_id: carolId, scope: "read" },
  bob,
);

const { evidence, relay } = createDelegation(createSeededRandom(1), {
  hops: 2,
  price: 2,
  credential: true,
});
export const bundle = signBundle(evidence, relay);
export const bundleFile = formatBundle(bundle);
export const relayKey = relay.publicKey;
export const relaySecretKey = relay.secretKey;
