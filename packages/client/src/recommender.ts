import {
  issueCredential,
  type CredentialSubject,
  type CredentialType,
  type VerifiableCredential,
} from "@agent/credentials";
import { BoundedMap } from "@agent/crypto";
import type { Received, TrustRecord } from "@agent/wire";
import { CALL_TIMEOUT_MS } from "./calls/call.ts";
import type { ProvenResult } from "./results/check-result.ts";
import { createEnvironment, type Environment } from "./environment.ts";
import type { CallRefusal } from "./calls/refusal.ts";
import type { PerCallOptions, RelayClient } from "./relay-client.ts";
import { retryRepeatable, type RetryOptions } from "./calls/retry.ts";
import { buildReputationSubject, buildTrustSubject } from "./results/credential-subjects.ts";

/** The agent that issues credentials about its executors. */
export interface RecommenderOptions extends Partial<Omit<Environment, "fetch">> {
  /** The delegating agent, which issues credentials about its executors. */
  readonly agentId: string;
  /** The seed of its own key or of one of its devices, 32 bytes. */
  readonly secretKey: Uint8Array;
  /** The validity of its credentials, in ms; the default is one hour. */
  readonly validForMs?: number;
}

/** The credentials that were issued and stored by the relay; empty if none was due. */
export type RecommendResult =
  | { readonly ok: true; readonly credentials: readonly VerifiableCredential[] }
  | CallRefusal;

/** Issues a delegator's credentials about its executors under its own key. */
export interface Recommender {
  /**
   * After a verified receipt, issues reputation if the work was completed, and trust if the level differs
   * from the last one attested. Refused like operations `getTrust`, `getAgent` and `submitCredentials`.
   */
  recommend(delegated: ProvenResult, perCall?: PerCallOptions): Promise<RecommendResult>;
  /** Issues trust after the level was set manually, unless that level was the last one attested. */
  attest(record: Received<typeof TrustRecord>, perCall?: PerCallOptions): Promise<RecommendResult>;
}

/**
 * The number of agents whose last attested level is cached; after an eviction a level is attested once
 * more.
 */
const CACHE_SIZE = 10_000;

/**
 * Creates a recommender, which issues credentials about executors and submits them to the relay
 * (specification, "Credentials"). Their values are taken from the relay's trust record.
 */
export function createRecommender(client: RelayClient, options: RecommenderOptions): Recommender {
  const environment = createEnvironment(options);
  const { agentId, secretKey, validForMs } = options;
  const submittedLevels = new BoundedMap<string, string>(CACHE_SIZE);

  function issue<Type extends CredentialType>(
    type: Type,
    subject: CredentialSubject<Type>,
  ): VerifiableCredential {
    const now = environment.now();
    const randomBytes = environment.randomBytes(10);
    return issueCredential({ type, subject, secretKey, now, validForMs, randomBytes });
  }

  async function submitAttestations(
    record: Received<typeof TrustRecord>,
    completed: boolean,
    retryOptions: RetryOptions,
  ): Promise<RecommendResult> {
    const { remote_agent_id: remoteId, trust_level: level } = record;
    const agent = await retryRepeatable(
      (perCall) => client.getAgent({ params: { agentId: remoteId } }, perCall),
      retryOptions,
    );
    if (!agent.ok) return agent;
    const { did, availability } = agent.body;
    if (did === null) return noCredentials;
    const reputation = completed
      ? buildReputationSubject(record, { did, availability }, environment.now())
      : null;
    const credentials = [
      ...(reputation === null ? [] : [issue("AgentReputationCredential", reputation)]),
      ...(submittedLevels.get(remoteId) === level
        ? []
        : [issue("AgentTrustCredential", buildTrustSubject(record, { did }))]),
    ];
    if (credentials.length === 0) return noCredentials;
    const body = { credentials: credentials.map((credential) => ({ ...credential })) };
    // Submitting the same ids again changes nothing, so the call can be retried after a lost answer.
    const submitted = await retryRepeatable(
      (perCall) => client.submitCredentials({ params: { agentId: remoteId }, body }, perCall),
      retryOptions,
    );
    if (!submitted.ok) return submitted;
    submittedLevels.set(remoteId, level);
    return { ok: true, credentials };
  }

  function buildRetryOptions({
    timeoutMs = CALL_TIMEOUT_MS,
    signal,
  }: PerCallOptions): RetryOptions {
    return { deadline: environment.now() + timeoutMs, environment, signal };
  }

  return {
    async recommend({ receipt }, perCall = {}) {
      const remoteId = receipt.agent_id;
      if (remoteId === agentId) return noCredentials;
      const retryOptions = buildRetryOptions(perCall);
      const record = await retryRepeatable(
        (options) => client.getTrust({ params: { agentId, remoteId } }, options),
        retryOptions,
      );
      if (!record.ok) return record;
      return submitAttestations(record.body, receipt.status === "completed", retryOptions);
    },
    attest: (record, perCall = {}) => submitAttestations(record, false, buildRetryOptions(perCall)),
  };
}

const noCredentials: RecommendResult = { ok: true, credentials: [] };
