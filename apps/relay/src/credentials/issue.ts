import { issueCredential, type CredentialSubject, type CredentialType } from "@agent/credentials";
import { findAgent } from "../agents/store.ts";
import type { Services } from "../services.ts";
import type { Tx } from "../storage/storage.ts";
import type { TrustRecordRow } from "../storage/tables/trust.ts";
import { levelName } from "../trust/levels.ts";
import { didOfKey } from "./agent-dids.ts";
import { rowOf, type Provenance } from "./credential-row.ts";
import { reputationOf } from "./reputation.ts";
import { insertCredential, type NewCredential } from "./store.ts";

export type Issuer = Pick<Services, "runtime" | "identity" | "connections">;

/** Says, under the relay's signature, what the relay knows of an agent. */
export async function issueReputation(
  tx: Tx,
  services: Issuer,
  agentId: string,
  taskId: string | null,
): Promise<NewCredential | undefined> {
  const subject = await reputationOf(tx, services, agentId);
  if (subject === undefined) return undefined;
  const type = "AgentReputationCredential";
  return keep(tx, services, { type, subject, agentId, taskId, delegatorId: "" });
}

/** Says, under the relay's signature, how far a delegator trusts an agent. */
export async function issueTrust(
  tx: Tx,
  services: Issuer,
  record: TrustRecordRow,
): Promise<NewCredential | undefined> {
  const agentId = record.remote_agent_id;
  const publicKey = (await findAgent(tx, agentId))?.public_key;
  if (publicKey === undefined || publicKey === null) return undefined;
  const subject = {
    id: didOfKey(publicKey),
    trust_level: levelName(record.trust_level),
    interaction_count: record.interaction_count,
    successful_tasks: record.successful_tasks,
    failed_tasks: record.failed_tasks,
    first_seen_at: record.first_seen_at,
    last_seen_at: record.last_seen_at,
  };
  const type = "AgentTrustCredential";
  return keep(tx, services, { type, subject, agentId, taskId: null, delegatorId: record.agent_id });
}

async function keep<Type extends CredentialType>(
  tx: Tx,
  { runtime, identity }: Issuer,
  {
    subject,
    ...provenance
  }: Provenance & {
    readonly type: Type;
    readonly subject: CredentialSubject<Type>;
  },
): Promise<NewCredential> {
  const credential = issueCredential({
    type: provenance.type,
    subject,
    secretKey: identity.secretKey,
    now: runtime.now(),
    randomBytes: runtime.randomBytes(10),
  });
  const row = rowOf(credential, provenance);
  await insertCredential(tx, row);
  return row;
}
