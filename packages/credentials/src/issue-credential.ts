import * as v from "valibot";
import { uuidV7 } from "@agent/crypto";
import { deriveDid, addProof } from "./data-integrity.ts";
import { formatDateTime } from "./date-time.ts";
import { CREDENTIAL_LIMITS } from "./limits.ts";
import { CREDENTIALS_CONTEXT, type VerifiableCredential } from "./schema.ts";
import { type CredentialSubject, type CredentialType, SUBJECT_SCHEMAS } from "./subjects.ts";

/** The content of a credential and the key that signs it. */
export interface IssueCredentialOptions<Type extends CredentialType> {
  readonly type: Type;
  readonly subject: CredentialSubject<Type>;
  /** The issuer's 32-byte seed. */
  readonly secretKey: Uint8Array;
  /** The time of issue and the start of validity, in ms since the epoch by the issuer's clock. */
  readonly now: number;
  /** The validity in ms; one hour by default. */
  readonly validForMs?: number | undefined;
  /**
   * At least 10 random bytes for an `id` of `urn:uuid:` and a UUID v7; without them it has no `id`.
   */
  readonly randomBytes?: Uint8Array | undefined;
}

/**
 * Issues a credential with an `eddsa-jcs-2022` proof of the did:key of `secretKey` (specification,
 * Credentials). Throws on a subject that verifiers would refuse.
 */
export function issueCredential<Type extends CredentialType>({
  type,
  subject,
  secretKey,
  now,
  validForMs = CREDENTIAL_LIMITS.defaultValidityMs,
  randomBytes,
}: IssueCredentialOptions<Type>): VerifiableCredential<CredentialSubject<Type>> {
  v.assert(SUBJECT_SCHEMAS[type], subject);
  const did = deriveDid(secretKey);
  const credential = {
    "@context": [CREDENTIALS_CONTEXT],
    ...(randomBytes && { id: `urn:uuid:${uuidV7(now, randomBytes)}` }),
    type: ["VerifiableCredential", type],
    issuer: did,
    validFrom: formatDateTime(now),
    validUntil: formatDateTime(now + validForMs),
    credentialSubject: subject,
  };
  return addProof(credential, { secretKey, did, purpose: "assertionMethod", now });
}
