import { hexToDidKey } from "@agent/crypto";
import { issueCredential, type CredentialSubject, type CredentialType } from "@agent/credentials";
import { entryOf } from "@agent/transparency";
import { findAgent } from "../agents/store.ts";
import { appendLog } from "../log/entries/append.ts";
import type { Services } from "../services.ts";
import type { Tx } from "../storage/storage.ts";
import type { TrustRecordRow } from "../storage/tables/trust.ts";
import { toCredentialRow, type Provenance } from "./credential-row.ts";
import { getFeesKeptBand } from "./fees-kept-band.ts";
import { getSubjectKey } from "../agents/keys/get-subject-key.ts";
import { getReputation } from "./reputation.ts";
import { getStatedLevel } from "./stated-level.ts";
import { insertCredential, type NewCredential } from "./store.ts";

export type IssuerDependencies = Pick<Services, "runtime" | "identity" | "connections" | "config">;

/** Issues a credential of the relay about an agent's reputation. */
export async function issueReputation(
  tx: Tx,
  services: IssuerDependencies,
  agentId: string,
  taskId: string | null,
): Promise<NewCredential | undefined> {
  const subject = await getReputation(tx, services, agentId);
  if (subject === undefined) return undefined;
  const type = "AgentReputationCredential";
  return issueAndStore(tx, services, { type, subject, agentId, taskId, delegatorId: "" });
}

/** Issues a credential of the relay about a delegator's trust in an agent. */
export async function issueTrust(
  tx: Tx,
  services: IssuerDependencies,
  record: TrustRecordRow,
): Promise<NewCredential | undefined> {
  const agentId = record.remote_agent_id;
  const publicKey = (await findAgent(tx, agentId))?.public_key;
  if (publicKey === undefined || publicKey === null) return undefined;
  const subject = {
    id: hexToDidKey(publicKey),
    trust_level: getStatedLevel(record, services.config.trust),
    fees_kept_band: getFeesKeptBand(record.fees_kept),
    interaction_count: record.interaction_count,
    successful_tasks: record.successful_tasks,
    failed_tasks: record.failed_tasks,
    first_seen_at: record.first_seen_at,
    last_seen_at: record.last_seen_at,
  };
  const type = "AgentTrustCredential";
  return issueAndStore(tx, services, {
    type,
    subject,
    agentId,
    taskId: null,
    delegatorId: record.agent_id,
  });
}

async function issueAndStore<Type extends CredentialType>(
  tx: Tx,
  { runtime, identity }: IssuerDependencies,
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
  const row = toCredentialRow(credential, provenance);
  await insertCredential(tx, row);
  const publicKey = getSubjectKey(credential) ?? "";
  const facts = { time: runtime.now(), agentId: row.agent_id, publicKey };
  await appendLog(tx, () => entryOf.credential(credential, facts));
  return row;
}
