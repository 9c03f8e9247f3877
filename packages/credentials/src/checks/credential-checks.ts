import type { Check } from "@agent/crypto";
import * as v from "valibot";
import type { ExternalCheck } from "./external-check.ts";
import { parseDateTime } from "../date-time.ts";
import { didKey } from "../fields.ts";
import { type ProofCheckContext, createProofChecks } from "./proof-checks.ts";
import type { CredentialRefusal, CredentialWarning } from "../refusals.ts";
import type { VerifiableCredential } from "../schema.ts";
import { listCredentialTypes, SUBJECT_SCHEMAS } from "../subjects.ts";

/** The values that a credential is checked against. */
export interface CredentialCheckContext extends ProofCheckContext {
  /** The verifier's clock in ms since the epoch. */
  readonly now: number;
  /** Whether the verifier can look up revocations. */
  readonly checksRevocation: boolean;
}

/** The checks of a credential whose structure is valid, in the order in which they run. */
export const CREDENTIAL_CHECKS: readonly Check<
  VerifiableCredential,
  CredentialCheckContext,
  CredentialRefusal,
  CredentialWarning,
  ExternalCheck
>[] = [
  ...createProofChecks<"credential", VerifiableCredential>(
    "credential",
    "assertionMethod",
    "issuer",
  ),
  {
    name: "valid_from",
    refusal: "credential.not_yet_valid",
    test: ({ validFrom }, { now }) => parseTime(validFrom) <= now,
  },
  {
    name: "valid_until",
    refusal: "credential.expired",
    test: ({ validUntil, proof }, { now }) =>
      isUnexpired(validUntil, now) && isUnexpired(proof.expires, now),
  },
  {
    name: "revocation",
    refusal: "credential.revoked",
    test: (credential, { checksRevocation }) =>
      checksRevocation ? { kind: "not_revoked", credential } : undefined,
  },
  {
    name: "subject",
    refusal: "credential.subject_malformed",
    test: (credential) =>
      v.is(didKey, credential.credentialSubject.id) &&
      listCredentialTypes(credential).every((type) =>
        v.is(SUBJECT_SCHEMAS[type], credential.credentialSubject),
      ),
  },
  {
    name: "type",
    warning: "credential.type_unknown",
    test: (credential) => listCredentialTypes(credential).length > 0,
  },
  {
    name: "status",
    warning: "credential.status_unchecked",
    test: (credential, { checksRevocation }) =>
      Object.hasOwn(credential, "credentialStatus") ? checksRevocation : undefined,
  },
];

/** Returns whether `now` is not after `end` (inclusive). */
export function isUnexpired(end: string | undefined, now: number): boolean {
  return end === undefined || now <= parseTime(end);
}

// Comparisons with NaN are false, so an invalid date fails every check.
function parseTime(date: string): number {
  return parseDateTime(date) ?? Number.NaN;
}
