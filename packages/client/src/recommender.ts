import {
  issueCredential,
  type CredentialSubject,
  type CredentialType,
  type VerifiableCredential,
} from "@agent/credentials";
import type { Received, TrustRecord } from "@agent/wire";
import { CALL_TIMEOUT_MS } from "./call.ts";
import type { ProvenResult } from "./check-result.ts";
import { environmentOf, type Environment } from "./environment.ts";
import type { CallRefusal } from "./refusal.ts";
import type { PerCall, RelayClient } from "./relay-client.ts";
import { retry, within, type Patience } from "./retry.ts";
import { reputationIn, trustIn } from "./testimony.ts";

export interface RecommenderOptions extends Partial<Omit<Environment, "fetch">> {
  /** The agent that delegates, and speaks of those who worked for it. */
  readonly agentId: string;
  /** The seed of its own key or of one of its devices, 32 bytes. */
  readonly secretKey: Uint8Array;
  /** How long its word holds, in ms; one hour unless given. */
  readonly validForMs?: number;
}

/** The credentials that were issued and that the relay keeps; none where there was nothing to say. */
export type Recommended =
  | { readonly ok: true; readonly credentials: readonly VerifiableCredential[] }
  | CallRefusal;

/** What a delegator says of its executors, under its own key. */
export interface Recommender {
  /**
   * After a verified receipt: reputation when the work was completed, and trust when the level differs
   * from the one that was said last. Refused as operations `getTrust`, `getAgent` and
   * `submitCredentials` are.
   */
  recommend(delegated: ProvenResult, perCall?: PerCall): Promise<Recommended>;
  /** After the level was set by hand: trust, unless that level was said last. */
  attest(record: Received<typeof TrustRecord>, perCall?: PerCall): Promise<Recommended>;
}

/** Whose levels are remembered; of somebody forgotten the level is said once more. */
const REMEMBERED = 10_000;

/**
 * Issues credentials about executors and hands them in at the relay (specification, "Credentials"). The
 * figures are those of the relay's trust record, which every receipt of this delegator has moved.
 */
export function createRecommender(client: RelayClient, options: RecommenderOptions): Recommender {
  const environment = environmentOf(options);
  const { agentId, secretKey, validForMs } = options;
  const saidLevels = new Map<string, string>();

  function issue<Type extends CredentialType>(
    type: Type,
    subject: CredentialSubject<Type>,
  ): VerifiableCredential {
    const now = environment.now();
    const randomBytes = environment.randomBytes(10);
    return issueCredential({ type, subject, secretKey, now, validForMs, randomBytes });
  }

  async function say(
    record: Received<typeof TrustRecord>,
    completed: boolean,
    patience: Patience,
  ): Promise<Recommended> {
    const { remote_agent_id: remoteId, trust_level: level } = record;
    const agent = await retry(
      () => client.getAgent({ params: { agentId: remoteId } }, within(patience)),
      true,
      patience,
    );
    if (!agent.ok) return agent;
    const { did, availability } = agent.body;
    if (did === null) return nothing;
    const reputation = completed
      ? reputationIn(record, { did, availability }, environment.now())
      : null;
    const credentials = [
      ...(reputation === null ? [] : [issue("AgentReputationCredential", reputation)]),
      ...(saidLevels.get(remoteId) === level
        ? []
        : [issue("AgentTrustCredential", trustIn(record, { did }))]),
    ];
    if (credentials.length === 0) return nothing;
    const body = { credentials: credentials.map((credential) => ({ ...credential })) };
    // The same ids again change nothing, so what may have arrived can be sent once more.
    const kept = await retry(
      () => client.submitCredentials({ params: { agentId: remoteId }, body }, within(patience)),
      true,
      patience,
    );
    if (!kept.ok) return kept;
    remember(remoteId, level);
    return { ok: true, credentials };
  }

  function remember(remoteId: string, level: string): void {
    saidLevels.delete(remoteId);
    saidLevels.set(remoteId, level);
    const [oldest] = saidLevels.keys();
    if (saidLevels.size > REMEMBERED && oldest !== undefined) saidLevels.delete(oldest);
  }

  function patienceOf({ timeoutMs = CALL_TIMEOUT_MS, signal }: PerCall): Patience {
    return { deadline: environment.now() + timeoutMs, environment, signal };
  }

  return {
    async recommend({ receipt }, perCall = {}) {
      const remoteId = receipt.agent_id;
      if (remoteId === agentId) return nothing;
      const patience = patienceOf(perCall);
      const record = await retry(
        () => client.getTrust({ params: { agentId, remoteId } }, within(patience)),
        true,
        patience,
      );
      if (!record.ok) return record;
      return say(record.body, receipt.status === "completed", patience);
    },
    attest: (record, perCall = {}) => say(record, false, patienceOf(perCall)),
  };
}

const nothing: Recommended = { ok: true, credentials: [] };
