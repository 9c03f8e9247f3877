import * as v from "valibot";
import type { Rung } from "./climb.ts";
import { parseDateTime } from "./date-time.ts";
import { didKey } from "./fields.ts";
import { type KnownToProof, proofLadder } from "./proof-ladder.ts";
import type { CredentialRefusal, CredentialRemark } from "./refusals.ts";
import type { VerifiableCredential } from "./schema.ts";
import { credentialTypesOf, SUBJECT_SCHEMAS } from "./subjects.ts";

/** What a credential is judged against. */
export interface KnownToCredential extends KnownToProof {
  readonly now: number;
  /** Whether somebody can tell which credentials are revoked. */
  readonly asksRevocation: boolean;
}

/** The checks of a credential of right structure, in the order in which they refuse it. */
export const CREDENTIAL_LADDER: readonly Rung<
  VerifiableCredential,
  KnownToCredential,
  CredentialRefusal,
  CredentialRemark
>[] = [
  ...proofLadder<"credential", VerifiableCredential>("credential", "assertionMethod", "issuer"),
  {
    name: "valid_from",
    refusal: "credential.not_yet_valid",
    holds: ({ validFrom }, { now }) => timeOf(validFrom) <= now,
  },
  {
    name: "valid_until",
    refusal: "credential.expired",
    holds: ({ validUntil, proof }, { now }) =>
      isOpen(validUntil, now) && isOpen(proof.expires, now),
  },
  {
    name: "revocation",
    refusal: "credential.revoked",
    holds: (credential, { asksRevocation }) =>
      asksRevocation ? { ask: "not_revoked", credential } : undefined,
  },
  {
    name: "subject",
    refusal: "credential.subject_malformed",
    holds: (credential) =>
      v.is(didKey, credential.credentialSubject.id) &&
      credentialTypesOf(credential).every((type) =>
        v.is(SUBJECT_SCHEMAS[type], credential.credentialSubject),
      ),
  },
  {
    name: "type",
    remark: "credential.type_unknown",
    holds: (credential) => credentialTypesOf(credential).length > 0,
  },
  {
    name: "status",
    remark: "credential.status_unchecked",
    holds: (credential, { asksRevocation }) =>
      Object.hasOwn(credential, "credentialStatus") ? asksRevocation : undefined,
  },
];

/** Whether an end has not passed yet; the moment that it names still counts. */
export function isOpen(end: string | undefined, now: number): boolean {
  return end === undefined || now <= timeOf(end);
}

// A date that is none compares as false with everything.
function timeOf(date: string): number {
  return parseDateTime(date) ?? Number.NaN;
}
