import type { VerifiableCredential } from "@agent/credentials";
import { entryOf } from "@agent/transparency";
import { refuse, type Answer, type Operations } from "@agent/wire";
import { recordAudit } from "../audit/record-audit.ts";
import type { Caller } from "../identity/caller.ts";
import { appendLog } from "../log/entries/append.ts";
import type { Services } from "../services.ts";
import type { Reader } from "../storage/storage.ts";
import { listIssuerDids } from "./agent-dids.ts";
import { getCredentialId, parseCredential, toCredentialStatus } from "./credential-row.ts";
import { getSubjectKey } from "../agents/keys/get-subject-key.ts";
import { findCredential, markCredentialRevoked } from "./store.ts";

/** Returns whether it was revoked here; a different credential with the same id does not count. */
export async function isRevoked(read: Reader, credential: VerifiableCredential): Promise<boolean> {
  const row = await findCredential(read, getCredentialId(credential));
  return row !== undefined && row.issuer === credential.issuer && row.revoked_at !== null;
}

export async function credentialStatus(
  { storage }: Pick<Services, "storage">,
  credentialId: string,
): Promise<Answer<Operations["credentialStatus"]>> {
  const row = await findCredential(storage.read, credentialId);
  return row === undefined
    ? refuse("credential.not_found")
    : { status: 200, body: toCredentialStatus(row) };
}

/**
 * Revokes a credential for its subject or its issuer, as named in the credential; the operator
 * may revoke any. The first revocation counts.
 */
export async function revokeCredential(
  { storage, runtime, log }: Pick<Services, "storage" | "runtime" | "log">,
  agentId: string,
  { credential_id, reason = null }: { credential_id: string; reason?: string | null | undefined },
  caller: Caller,
): Promise<Answer<Operations["revokeCredential"]>> {
  const { read } = storage;
  const row = await findCredential(read, credential_id);
  if (row === undefined) return refuse("credential.not_found");
  const isParty = row.agent_id === agentId || (await listIssuerDids(read, agentId)).has(row.issuer);
  if (caller.kind !== "master" && !isParty) return refuse("credential.not_participant");
  const revoked = await storage.transaction(async (tx) => {
    const now = runtime.now();
    const isFirst = (await findCredential(tx, credential_id))?.revoked_at === null;
    await markCredentialRevoked(tx, { credential_id, now, reason });
    // The subject is notified, regardless of who revoked it.
    if (isFirst) {
      const action = "credential.revoked";
      await recordAudit(tx, now, caller, { agentId: row.agent_id, action, detail: credential_id });
      const publicKey = getSubjectKey(parseCredential(row)) ?? "";
      const facts = { agentId: row.agent_id, publicKey, time: now };
      const record = { credential_id, revoked_at: now };
      await appendLog(tx, () => entryOf.credentialRevoked(record, facts));
    }
    return findCredential(tx, credential_id);
  });
  if (revoked === undefined) throw new Error("a credential was deleted while it was revoked");
  log.info("credential.revoked", { credential_id, agent_id: agentId });
  return { status: 200, body: toCredentialStatus(revoked) };
}
