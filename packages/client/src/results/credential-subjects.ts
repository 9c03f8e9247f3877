import type { CredentialSubject } from "@agent/credentials";
import type { DiscoveryEntry, Received, TrustRecord } from "@agent/wire";

/** The subject of a credential: the agent's did:key and its availability as the relay measures it. */
export type CredentialTarget = { readonly did: string } & Pick<DiscoveryEntry, "availability">;

/** Builds a delegator's reputation of an executor; null before any task succeeded or failed. */
export function buildReputationSubject(
  record: Received<typeof TrustRecord>,
  { did, availability }: CredentialTarget,
  now: number,
): CredentialSubject<"AgentReputationCredential"> | null {
  const counted = record.successful_tasks + record.failed_tasks;
  if (counted === 0) return null;
  return {
    id: did,
    success_rate: record.successful_tasks / counted,
    avg_latency_ms: record.avg_latency_ms ?? 0,
    task_count: record.interaction_count,
    trust_score: record.trust_score,
    availability,
    sample_size: counted,
    measured_at: now,
  };
}

/** Builds a delegator's trust in an executor. */
export function buildTrustSubject(
  record: Received<typeof TrustRecord>,
  { did }: Pick<CredentialTarget, "did">,
): CredentialSubject<"AgentTrustCredential"> {
  return {
    id: did,
    trust_level: record.trust_level,
    interaction_count: record.interaction_count,
    successful_tasks: record.successful_tasks,
    failed_tasks: record.failed_tasks,
    first_seen_at: record.first_seen_at,
    last_seen_at: record.last_seen_at,
  };
}
