import {
  issueCredential,
  type CredentialSubject,
  type CredentialType,
  type VerifiableCredential,
} from "@agent/credentials";
import type { Received, TrustRecord } from "@agent/wire";
import { CALL_TIMEOUT_MS } from "./calls/call.ts";
import type { ProvenResult } from "./results/check-result.ts";
import { createEnvironment, type Environment } from "./environment.ts";
import type { CallRefusal } from "./calls/refusal.ts";
import type { PerCallOptions, RelayClient } from "./relay-client.ts";
import { retry, toPerCallOptions, type RetryOptions } from "./calls/retry.ts";
import { buildReputationSubject, buildTrustSubject } from "./results/credential-subjects.ts";

export interface RecommenderOptions extends Partial<Omit<Environment, "fetch">> {
  /** The agent that delegates, and speaks of those who worked for it. */
  readonly agentId: string;
  /** The seed of its own key or of one of its devices, 32 bytes. */
  readonly secretKey: Uint8Array;
  /** How long its word holds, in ms; one hour unless given. */
  readonly validForMs?: number;
}

/** The credentials that were issued and that the relay keeps; none where there was nothing to say. */
export type RecommendResult =
  | { readonly ok: true; readonly credentials: readonly VerifiableCredential[] }
  | CallRefusal;

/** What a delegator says of its executors, under its own key. */
export interface Recommender {
  /**
   * After a verified receipt: reputation when the work was completed, and trust when the level differs
   * from the one that was said last. Refused as operations `getTrust`, `getAgent` and
   * `submitCredentials` are.
   */
  recommend(delegated: ProvenResult, perCall?: PerCallOptions): Promise<RecommendResult>;
  /** After the level was set by hand: trust, unless that level was said last. */
  attest(record: Received<typeof TrustRecord>, perCall?: PerCallOptions): Promise<RecommendResult>;
}

/** Whose levels are remembered; of somebody forgotten the level is said once more. */
const CACHE_SIZE = 10_000;

/**
 * Issues credentials about executors and hands them in at the relay (specification, "Credentials"). The
 * figures are those of the relay's trust record, which every receipt of this delegator has moved.
 */
export function createRecommender(client: RelayClient, options: RecommenderOptions): Recommender {
  const environment = createEnvironment(options);
  const { agentId, secretKey, validForMs } = options;
  const submittedLevels = new Map<string, string>();

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
    patience: RetryOptions,
  ): Promise<RecommendResult> {
    const { remote_agent_id: remoteId, trust_level: level } = record;
    const agent = await retry(
      () => client.getAgent({ params: { agentId: remoteId } }, toPerCallOptions(patience)),
      true,
      patience,
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
    // The same ids again change nothing, so what may have arrived can be sent once more.
    const submitted = await retry(
      () =>
        client.submitCredentials(
          { params: { agentId: remoteId }, body },
          toPerCallOptions(patience),
        ),
      true,
      patience,
    );
    if (!submitted.ok) return submitted;
    recordSubmittedLevel(remoteId, level);
    return { ok: true, credentials };
  }

  function recordSubmittedLevel(remoteId: string, level: string): void {
    submittedLevels.delete(remoteId);
    submittedLevels.set(remoteId, level);
    const [oldest] = submittedLevels.keys();
    if (submittedLevels.size > CACHE_SIZE && oldest !== undefined) submittedLevels.delete(oldest);
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
      const patience = buildRetryOptions(perCall);
      const record = await retry(
        () => client.getTrust({ params: { agentId, remoteId } }, toPerCallOptions(patience)),
        true,
        patience,
      );
      if (!record.ok) return record;
      return submitAttestations(record.body, receipt.status === "completed", patience);
    },
    attest: (record, perCall = {}) => submitAttestations(record, false, buildRetryOptions(perCall)),
  };
}

const noCredentials: RecommendResult = { ok: true, credentials: [] };
