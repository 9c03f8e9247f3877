import type { CredentialType, VerifiableCredential } from "@agent/credentials";
import { canonicalize, sha256Hex } from "@agent/crypto";
import type { CredentialStatus } from "@agent/wire";
import type { CredentialRow } from "../storage/tables/credentials.ts";
import type { NewCredential } from "./store.ts";

/** Returns the id of a credential: its own, or otherwise the hash of its JCS. */
export function getCredentialId(credential: VerifiableCredential): string {
  return credential.id ?? `urn:sha256:${sha256Hex(canonicalize(credential))}`;
}

/** Metadata that the relay stores beside the document. */
export interface Provenance {
  readonly type: CredentialType;
  readonly agentId: string;
  /** The delegator of a trust credential; empty for all other types. */
  readonly delegatorId: string;
  /** The task that it was issued for. */
  readonly taskId: string | null;
}

/** Builds the row of a credential whose dates were checked. */
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

/** Parses the document as its issuer signed it. */
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
