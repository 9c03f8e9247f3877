import {
  type CredentialSubject,
  type CredentialType,
  issueCredential,
  type VerifiableCredential,
} from "@agent/credentials";
import { canonicalize, concatBytes, sha256, sign, toBase58Btc } from "@agent/crypto";
import type { TestAgent } from "@agent/testkit";
import type { Reply, TestRelay } from "../test-relay.ts";

export const credentialsPath = ({ agentId }: Pick<TestAgent, "agentId">) =>
  `/api/v1/agents/${agentId}/credentials`;

/** The claims about an agent, and the lifetime of the credential. */
export interface CredentialInput {
  readonly now: number;
  readonly validForMs?: number;
  /** Determines the credential's id; the same byte gives the same id. */
  readonly seed?: number;
  readonly about?: object;
}

type CredentialIssuer = Pick<TestAgent, "secretKey">;
type Subject = Pick<TestAgent, "did">;

const idBytes = (seed = 1) => new Uint8Array(10).fill(seed);

type IssueCredential = (
  by: CredentialIssuer,
  of: Subject,
  input: CredentialInput,
) => VerifiableCredential;

/** Returns a function that issues credentials of one type, whose claims the caller may change. */
function createIssuer<Type extends CredentialType>(
  type: Type,
  getClaims: (now: number) => Omit<CredentialSubject<Type>, "id">,
): IssueCredential {
  return (by, of, { now, validForMs, seed, about = {} }) =>
    issueCredential({
      type,
      subject: { id: of.did, ...getClaims(now), ...about } as CredentialSubject<Type>,
      secretKey: by.secretKey,
      now,
      validForMs,
      randomBytes: idBytes(seed),
    });
}

export const createReputationCredential = createIssuer("AgentReputationCredential", (now) => ({
  success_rate: 1,
  avg_latency_ms: 5,
  task_count: 1,
  trust_score: 0.3,
  availability: 1,
  sample_size: 1,
  measured_at: now,
}));

export const createTrustCredential = createIssuer("AgentTrustCredential", (now) => ({
  trust_level: "first_contact",
  interaction_count: 1,
  successful_tasks: 1,
  failed_tasks: 0,
  first_seen_at: now,
  last_seen_at: now,
}));

export const createGradientCredential = createIssuer("AgentGradientCredential", (now) => ({
  gradient: 0.5,
  knowledge_density: 0,
  knowledge_quality: 0,
  graph_connectivity: 0,
  temporal_stability: 0,
  retrieval_quality: 0,
  interaction_efficiency: 0,
  tool_efficiency: 0,
  curiosity_pressure: 0,
  measured_at: now,
}));

export function submitCredentials(
  t: TestRelay,
  by: TestAgent,
  about: TestAgent,
  ...credentials: readonly object[]
): Promise<Reply> {
  return t.as(by, "POST", credentialsPath(about), { credentials });
}

/** Builds a credential with arbitrary content and a valid proof. */
export function resignCredential(
  by: CredentialIssuer,
  { proof, ...credential }: VerifiableCredential,
  change: object,
): VerifiableCredential {
  const document = { ...credential, ...change };
  const { proofValue: _, ...options } = proof;
  const hashes = [options, document].map((part) => sha256(canonicalize(part)));
  const proofValue = `z${toBase58Btc(sign(concatBytes(...hashes), by.secretKey))}`;
  return { ...document, proof: { ...options, proofValue } };
}
