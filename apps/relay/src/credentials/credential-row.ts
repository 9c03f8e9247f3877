import type { CredentialType, VerifiableCredential } from "@agent/credentials";
import { canonicalize, sha256Hex } from "@agent/crypto";
import type { CredentialStatus } from "@agent/wire";
import type { CredentialRow } from "../storage/tables/credentials.ts";
import type { NewCredential } from "./store.ts";

/** By what a credential is named: its own id, else the hash of its JCS. */
export function getCredentialId(credential: VerifiableCredential): string {
  return credential.id ?? `urn:sha256:${sha256Hex(canonicalize(credential))}`;
}

/** What the relay knows of a credential beside the document. */
export interface Provenance {
  readonly type: CredentialType;
  readonly agentId: string;
  /** Whose trust the relay speaks of; empty in all others. */
  readonly delegatorId: string;
  /** The task whose receipt it is issued for. */
  readonly taskId: string | null;
}

/** A credential, whose dates were checked, as it is stored. */
export function toCredentialRow(
  credential: VerifiableCredential,
  { type, agentId, delegatorId, taskId }: Provenance,
): NewCredential {
  const { issuer, validFrom, validUntil } = credential;
  return {
    agent_id: agentId,
    credential_id: getCredentialId(credential),
    type,
    issuer,
    delegator_id: delegatorId,
    task_id: taskId,
    body: JSON.stringify(credential),
    issued_at: Date.parse(validFrom),
    expires_at: validUntil === undefined ? null : Date.parse(validUntil),
  };
}

/** The document, as its issuer signed it. */
export function parseCredential({ body }: Pick<CredentialRow, "body">): VerifiableCredential {
  return JSON.parse(body) as VerifiableCredential;
}

export function toCredentialStatus({
  credential_id,
  revoked_at,
  revoked_reason,
}: CredentialRow): CredentialStatus {
  return {
    credential_id,
    revoked: revoked_at !== null,
    ...(revoked_at !== null && { revoked_at }),
    ...(revoked_reason !== null && { reason: revoked_reason }),
  };
}
