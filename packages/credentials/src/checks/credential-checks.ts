import * as v from "valibot";
import type { Check } from "./run-checks.ts";
import { parseDateTime } from "../date-time.ts";
import { didKey } from "../fields.ts";
import { type ProofCheckContext, createProofChecks } from "./proof-checks.ts";
import type { CredentialRefusal, CredentialWarning } from "../refusals.ts";
import type { VerifiableCredential } from "../schema.ts";
import { listCredentialTypes, SUBJECT_SCHEMAS } from "../subjects.ts";

/** What a credential is judged against. */
export interface CredentialCheckContext extends ProofCheckContext {
  readonly now: number;
  /** Whether somebody can tell which credentials are revoked. */
  readonly checksRevocation: boolean;
}

/** The checks of a credential of right structure, in the order in which they refuse it. */
export const CREDENTIAL_CHECKS: readonly Check<
  VerifiableCredential,
  CredentialCheckContext,
  CredentialRefusal,
  CredentialWarning
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
    test: (credential, { checksRevocation: asksRevocation }) =>
      asksRevocation ? { kind: "not_revoked", credential } : undefined,
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
    test: (credential, { checksRevocation: asksRevocation }) =>
      Object.hasOwn(credential, "credentialStatus") ? asksRevocation : undefined,
  },
];

/** Whether an end has not passed yet; the moment that it names still counts. */
export function isUnexpired(end: string | undefined, now: number): boolean {
  return end === undefined || now <= parseTime(end);
}

// A date that is none compares as false with everything.
function parseTime(date: string): number {
  return parseDateTime(date) ?? Number.NaN;
}
