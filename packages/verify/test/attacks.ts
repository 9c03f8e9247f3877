import { issueCredential } from "@agent/credentials";
import { signJson } from "@agent/crypto";
import { hashReceipt, signAttestation, signReceipt, signSettlementRecord } from "@agent/receipts";
import { createSeededRandom } from "@agent/testkit";
import {
  type Evidence,
  type EvidenceBundle,
  formatBundle,
  type ProofLevelName,
  signBundle,
} from "../src/index.ts";
import { createDelegation, createTestSigner, START_TIME } from "./create-delegation.ts";

export const paid = () =>
  createDelegation(createSeededRandom(7), { hops: 3, keys: 2, price: 2, credential: true });
export const { evidence, relay, executor, hands } = paid();
export const bundle = signBundle(evidence, relay);
export const text = formatBundle(bundle);
export const stranger = createTestSigner(createSeededRandom(8), 1);

/** Returns the bundle that the relay would have signed with these records. */
export const had = (changes: Partial<Evidence>) => signBundle({ ...evidence, ...changes }, relay);

/** Returns the bundle with changed members, signed again by its relay. */
export const resigned = (changes: object) =>
  signJson({ ...bundle, ...changes }, relay.secretKey) as EvidenceBundle;

export const elsewhere = createTestSigner(createSeededRandom(11), 1);
const attestedElsewhere = (changes: object = {}, secretKey = elsewhere.secretKey) => ({
  peer: {
    relay_id: elsewhere.signer.agent_id,
    public_key: elsewhere.publicKey,
    attestation: signAttestation(
      { ...bundle.attestation, relay_id: elsewhere.signer.agent_id, ...changes },
      secretKey,
    ),
  },
});
export const forwarded = had(attestedElsewhere());

const { receipt, task, signers, postings } = evidence;
const [signer, ...others] = signers as [(typeof signers)[0], ...typeof signers];
const [first, second] = signer.keys as [(typeof signer.keys)[0], (typeof signer.keys)[0]];
const [record] = evidence.settlements as [(typeof evidence.settlements)[0]];
const again = (changes: object, secretKey = executor.secretKey) =>
  signReceipt({ ...receipt, ...changes }, secretKey);
const paidOut = (changes: object, secretKey = relay.secretKey) => ({
  settlements: [signSettlementRecord({ ...record, ...changes }, secretKey)],
});
const credentialOf = (id: string, secretKey: Uint8Array) => ({
  credential: issueCredential({
    type: "AgentTrustCredential",
    subject: {
      id,
      trust_level: "trusted",
      interaction_count: 1,
      successful_tasks: 1,
      failed_tasks: 0,
      first_seen_at: 0,
      last_seen_at: 1,
    },
    secretKey,
    now: START_TIME,
  }),
});
const attested = (changes: object) => ({
  attestation: signAttestation({ ...bundle.attestation, ...changes }, relay.secretKey),
});
const [handover] = signer.chain as [object];
const history = (changes: object) => resigned({ signers: [{ ...signer, ...changes }, ...others] });

const endedAtSubmission = {
  ...signer,
  keys: [first, { ...second, valid_until: task.submitted_at }],
};

type Attack = [string, ProofLevelName, string, EvidenceBundle];

/** A dishonest relay's bundles, each with the level and the code by which it is refused. */
export const attacks: readonly Attack[] = [
  ["another version", "well_formed", "bundle.spec", resigned({ spec: "agent/evidence@2.0" })],
  ["another suite", "well_formed", "bundle.suite", resigned({ suite: "none" })],
  [
    "a task that is not finished",
    "well_formed",
    "bundle.malformed",
    resigned({ task: { ...task, status: "pending" } }),
  ],
  [
    "a receipt that is none",
    "well_formed",
    "receipt.malformed",
    resigned({ receipt: { ...receipt, status: "done" } }),
  ],
  [
    "a changed receipt",
    "intact",
    "receipt.signature_invalid",
    had({ receipt: { ...receipt, result: "changed" } }),
  ],
  [
    "a receipt by a stranger's key",
    "key_bound",
    "receipt.signature_invalid",
    had({ receipt: again({ public_key: stranger.publicKey }, stranger.secretKey) }),
  ],
  ["a signer without keys", "key_bound", "receipt.key_missing", resigned({ signers: others })],
  [
    "a key without a succession record",
    "key_bound",
    "bundle.key_history_broken",
    history({ chain: [] }),
  ],
  [
    "a succession record without its new key",
    "key_bound",
    "bundle.key_history_broken",
    history({ keys: [first] }),
  ],
  [
    "a succession record without any key",
    "key_bound",
    "bundle.key_history_broken",
    history({ keys: [] }),
  ],
  [
    "a succession record for another key",
    "key_bound",
    "bundle.key_history_broken",
    history({ keys: [first, { ...second, public_key: stranger.publicKey }] }),
  ],
  [
    "a changed succession record",
    "key_bound",
    "bundle.key_history_broken",
    history({ chain: [{ ...handover, timestamp: 1 }] }),
  ],
  [
    "an agent listed twice",
    "key_bound",
    "bundle.key_history_broken",
    resigned({ signers: [...signers, signer] }),
  ],
  [
    "a key that came after the receipt",
    "key_valid",
    "bundle.key_not_in_force",
    history({ keys: [first, { ...second, valid_from: evidence.received_at + 60_001 }] }),
  ],
  [
    "G4: a key that was left before the task was submitted",
    "key_valid",
    "bundle.key_not_in_force",
    history({ keys: [first, { ...second, valid_until: task.submitted_at }] }),
  ],
  [
    "a former key under a receipt that states an earlier submission than its task",
    "key_valid",
    "bundle.key_not_in_force",
    had({
      receipt: again({ submitted_at: task.submitted_at - 1 }),
      signers: [endedAtSubmission, ...others],
      settlements: [],
      postings: [],
    }),
  ],
  [
    "a receipt of another task",
    "task_bound",
    "receipt.task_mismatch",
    had({ receipt: again({ task_id: "another", relay_task_id: "another" }) }),
  ],
  [
    "a task of another executor",
    "task_bound",
    "bundle.wrong_executor",
    had({ task: { ...task, assigned_to: stranger.signer.agent_id } }),
  ],
  [
    "a task that ended otherwise",
    "task_bound",
    "bundle.status_mismatch",
    had({ task: { ...task, status: "failed" } }),
  ],
  [
    "an attestation of another receipt",
    "attested",
    "attestation.receipt_mismatch",
    resigned(attested({ receipt_hash: "0".repeat(64) })),
  ],
  [
    "an attestation of another task",
    "attested",
    "attestation.task_mismatch",
    resigned(attested({ task_id: "another" })),
  ],
  [
    "an attestation that was changed",
    "attested",
    "attestation.signature_invalid",
    resigned({ attestation: { ...bundle.attestation, attested_at: START_TIME + 60_000 } }),
  ],
  [
    "another relay's attestation of another receipt",
    "attested",
    "attestation.receipt_mismatch",
    had(attestedElsewhere({ receipt_hash: "0".repeat(64) })),
  ],
  [
    "the attestation of another receipt beside a sound one of another relay",
    "attested",
    "attestation.receipt_mismatch",
    resigned({ ...attestedElsewhere(), ...attested({ receipt_hash: "0".repeat(64) }) }),
  ],
  [
    "another relay's attestation of another task",
    "attested",
    "attestation.task_mismatch",
    had(attestedElsewhere({ task_id: "another" })),
  ],
  [
    "another relay's attestation by a third party",
    "attested",
    "attestation.signature_invalid",
    had(attestedElsewhere({}, stranger.secretKey)),
  ],
  [
    "another relay's attestation under another name",
    "attested",
    "attestation.wrong_relay",
    had(attestedElsewhere({ relay_id: relay.relayId })),
  ],
  [
    "another relay without a key",
    "well_formed",
    "bundle.malformed",
    resigned({ peer: { ...attestedElsewhere().peer, public_key: null } }),
  ],
  [
    "a settlement by another",
    "settled",
    "settlement.signature_invalid",
    had(paidOut({}, stranger.secretKey)),
  ],
  [
    "a settlement of another relay",
    "settled",
    "settlement.wrong_issuer",
    had(paidOut({ issuer: stranger.did }, stranger.secretKey)),
  ],
  [
    "a settlement to another",
    "settled",
    "bundle.settlement_mismatch",
    had(paidOut({ payee_id: stranger.signer.agent_id })),
  ],
  [
    "a settlement by another payer",
    "settled",
    "bundle.settlement_mismatch",
    had(paidOut({ payer_id: "another" })),
  ],
  [
    "a settlement of another task",
    "settled",
    "bundle.settlement_mismatch",
    had(paidOut({ task_id: "another" })),
  ],
  [
    "a settlement of another receipt",
    "settled",
    "bundle.settlement_mismatch",
    had(paidOut({ receipt_hash: "0".repeat(64) })),
  ],
  [
    "a settlement whose parts differ from the whole",
    "settled",
    "bundle.settlement_mismatch",
    had(paidOut({ fee: 0.2 })),
  ],
  [
    "a settlement that is listed twice",
    "settled",
    "bundle.settlement_mismatch",
    had({ settlements: [record, record], postings: [...postings, ...postings] }),
  ],
  [
    "two settlements of one id",
    "settled",
    "bundle.settlement_mismatch",
    had({
      settlements: [record, ...paidOut({ amount_settled: 1, fee: 0.05, net: 0.95 }).settlements],
      postings: [
        ...postings,
        ...postings.map((posting) => ({ ...posting, amount: posting.amount / 2 })),
      ],
    }),
  ],
  [
    "postings that leave a rest",
    "settled",
    "bundle.postings_mismatch",
    had({ postings: postings.slice(1) }),
  ],
  ...(
    [
      ["a rest beside postings of which it is no part in floating point", [0.5, 1e16, -1e16]],
      ["a micro-unit beside a sum beyond 2^53", [9e9, 9e9, 0.000_001, -9e9, -9e9]],
      ["a part of a micro-unit", [0.000_000_4]],
      ["postings beyond 2^53 micro-units", [2 ** 34, -(2 ** 34)]],
    ] as const
  ).map(([name, amounts]): Attack => [
    name,
    "settled",
    "bundle.postings_mismatch",
    had({
      postings: [
        ...amounts.map((amount) => ({ ...postings[0]!, type: "deposit", amount })),
        ...postings,
      ],
    }),
  ]),
  ...(
    [
      ["charge the payer more", "settlement_debit", -0.5],
      ["pay the executor less", "settlement_credit", -0.5],
      ["keep a higher fee", "fee", 0.5],
    ] as const
  ).map(([name, type, more]): Attack => [
    `postings that ${name} than was settled, and balance it by a release`,
    "settled",
    "bundle.postings_mismatch",
    had({
      postings: [
        ...postings.map((each) =>
          each.type === type ? { ...each, amount: each.amount + more } : each,
        ),
        { ...postings[0]!, amount: -more },
      ],
    }),
  ]),
  [
    "postings of another payment",
    "settled",
    "bundle.postings_mismatch",
    had(paidOut({ amount_settled: 1, fee: 0.05, net: 0.95 })),
  ],
  ["a settlement without postings", "settled", "bundle.postings_mismatch", had({ postings: [] })],
  [
    "postings without a settlement",
    "settled",
    "bundle.postings_mismatch",
    had({ settlements: [] }),
  ],
  [
    "texts that were erased",
    "hashes_match",
    "bundle.erased",
    had({ erased: { erased_at: evidence.received_at, receipt_hash: hashReceipt(receipt) } }),
  ],
  [
    "a credential about another",
    "nested",
    "bundle.credential_foreign",
    had(credentialOf(stranger.did, relay.secretKey)),
  ],
  [
    "a credential by another",
    "nested",
    "bundle.credential_foreign",
    had(credentialOf(executor.did, stranger.secretKey)),
  ],
  [
    "a credential that was changed",
    "nested",
    "credential.signature_invalid",
    had({ credential: { ...evidence.credential!, id: "urn:other" } }),
  ],
];
