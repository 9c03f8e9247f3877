import * as v from "valibot";
import { amount, count, didKey, finite, timestamp, ratio, text } from "./fields.ts";

/**
 * The lower bound, in USD, of the fees that the issuing relay kept from the tasks that a credential is
 * about: "0", "0.05", "0.5", "5" or "50". Absent in credentials that state no fees.
 */
const feesKeptBand = v.optional(text);

/**
 * The schema of the subject for each type of credential (specification, Credentials). `avg_latency_ms` is a
 * duration; `measured_at`, `first_seen_at` and `last_seen_at` are in ms since the epoch, by the issuer's
 * clock.
 */
export const SUBJECT_SCHEMAS = {
  AgentReputationCredential: v.object({
    id: didKey,
    success_rate: ratio,
    avg_latency_ms: amount,
    task_count: count,
    trust_score: ratio,
    availability: ratio,
    sample_size: count,
    measured_at: timestamp,
    fees_kept_band: feesKeptBand,
  }),
  AgentGradientCredential: v.object({
    id: didKey,
    gradient: ratio,
    knowledge_density: finite,
    knowledge_quality: finite,
    graph_connectivity: finite,
    temporal_stability: finite,
    retrieval_quality: finite,
    interaction_efficiency: finite,
    tool_efficiency: finite,
    curiosity_pressure: finite,
    measured_at: timestamp,
  }),
  AgentTrustCredential: v.object({
    id: didKey,
    trust_level: text,
    interaction_count: count,
    successful_tasks: count,
    failed_tasks: count,
    first_seen_at: timestamp,
    last_seen_at: timestamp,
    fees_kept_band: feesKeptBand,
  }),
} as const;

/** The specific type, listed beside `VerifiableCredential`. */
export type CredentialType = keyof typeof SUBJECT_SCHEMAS;

/** The `credentialSubject` of a type: `id` is the did:key of the agent that it is about. */
export type CredentialSubject<Type extends CredentialType = CredentialType> = v.InferOutput<
  (typeof SUBJECT_SCHEMAS)[Type]
>;

const knownTypes = Object.keys(SUBJECT_SCHEMAS) as CredentialType[];

/** Returns the known types of a credential: normally one, none for an unknown type. */
export function listCredentialTypes(credential: {
  readonly type: readonly string[];
}): CredentialType[] {
  return knownTypes.filter((type) => credential.type.includes(type));
}
