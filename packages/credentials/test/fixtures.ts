import {
  canonicalize,
  concatBytes,
  generateKeyPair,
  publicKeyToDidKey,
  sha256,
  sign,
  toBase58Btc,
} from "@agent/crypto";
import {
  createPresentation,
  type CredentialSubject,
  type CredentialType,
  issueCredential,
  type CreatePresentationOptions,
  type VerifiableCredential,
} from "../src/index.ts";

/** An agent whose keys are derived from a number, so that every run signs alike. */
export function createAgent(seed: number) {
  const { publicKey, secretKey } = generateKeyPair(new Uint8Array(32).fill(seed));
  const did = publicKeyToDidKey(publicKey);
  return { did, method: `${did}#${did.slice("did:key:".length)}`, secretKey };
}

export const alice = createAgent(1);
export const bob = createAgent(2);
export const carol = createAgent(3);

export const now = Date.parse("2026-01-02T05:14:54.827Z");
export const HOUR_MS = 3_600_000;

/** The subjects of alice's credentials about bob, one of each type. */
export const subjects: { readonly [Type in CredentialType]: CredentialSubject<Type> } = {
  AgentReputationCredential: {
    id: bob.did,
    success_rate: 0.95,
    avg_latency_ms: 2745.25,
    task_count: 85,
    trust_score: 0.5,
    availability: 1,
    sample_size: 82,
    measured_at: now - 60_000,
  },
  AgentGradientCredential: {
    id: bob.did,
    gradient: 0.4,
    knowledge_density: 3.5,
    knowledge_quality: 0.75,
    graph_connectivity: 2,
    temporal_stability: 0.5,
    retrieval_quality: 0.25,
    interaction_efficiency: 1.5,
    tool_efficiency: 0.5,
    curiosity_pressure: -0.5,
    measured_at: now - 60_000,
  },
  AgentTrustCredential: {
    id: bob.did,
    trust_level: "verified",
    interaction_count: 9,
    successful_tasks: 8,
    failed_tasks: 1,
    first_seen_at: now - 10 * HOUR_MS,
    last_seen_at: now - HOUR_MS,
  },
};
export const types = Object.keys(subjects) as CredentialType[];

/** Issues a credential of alice about bob, valid for one hour. */
export function issueTestCredential(
  type: CredentialType = "AgentReputationCredential",
): VerifiableCredential {
  return issueCredential({ type, subject: subjects[type], secretKey: alice.secretKey, now });
}

/** Creates a presentation of bob. */
export function createTestPresentation(options: Partial<CreatePresentationOptions> = {}) {
  return createPresentation({
    credentials: [issueTestCredential()],
    secretKey: bob.secretKey,
    now,
    ...options,
  });
}

type Members = Readonly<Record<string, unknown>>;
type Secured = Members & { readonly proof: Members };

/** Returns the document with members changed or, if undefined, removed, and signed again. */
export function resignDocument(document: object, changes: object, { secretKey } = alice): Secured {
  const { proof: proofChanges, ...memberChanges } = changes as Partial<Secured>;
  const { proof: proofBefore, ...membersBefore } = document as Secured;
  const members = { ...membersBefore, ...memberChanges };
  const options = { ...proofBefore, ...proofChanges, proofValue: undefined };
  const hashes = [options, members].map((part) => sha256(canonicalize(part)));
  const proofValue = `z${toBase58Btc(sign(concatBytes(...hashes), secretKey))}`;
  const signed = { ...members, proof: { ...options, proofValue } };
  return JSON.parse(JSON.stringify(signed)) as Secured;
}
