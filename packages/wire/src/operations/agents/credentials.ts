import { VerifiableCredentialSchema } from "@agent/credentials";
import * as v from "valibot";
import { describeAs } from "../../engine/annotate-schema.ts";
import {
  id,
  looseObject,
  nextCursor,
  pageQuery,
  shortText,
  wholeNumber,
} from "../../engine/fields.ts";
import { limits } from "../../engine/limits.ts";
import { defineOperation } from "../../engine/operation.ts";

/** A stored credential; its document is returned exactly as it was signed. */
export const StoredCredential = v.object({
  credential_id: v.string(),
  type: describeAs(v.string(), "The type of the credential as its document names it."),
  credential: describeAs(looseObject, "The credential exactly as signed."),
  issued_at: describeAs(
    wholeNumber,
    "The `validFrom` of the credential, in ms since the Unix epoch.",
  ),
  revoked: describeAs(v.boolean(), "Whether it is revoked."),
});
export type StoredCredential = v.InferOutput<typeof StoredCredential>;

export const CredentialStatus = v.object({
  credential_id: v.string(),
  revoked: describeAs(v.boolean(), "Whether it is revoked."),
  revoked_at: describeAs(
    v.exactOptional(wholeNumber),
    "The time of the revocation, in ms since the Unix epoch; absent if there is none.",
  ),
  reason: describeAs(
    v.exactOptional(v.string()),
    "The reason for the revocation, if one was given.",
  ),
});
export type CredentialStatus = v.InferOutput<typeof CredentialStatus>;

const type = describeAs(
  v.optional(shortText),
  "Only credentials of this type, as their documents name it.",
);

export const credentials = {
  listCredentials: defineOperation({
    method: "GET",
    path: "/api/v1/agents/:agentId/credentials",
    summary:
      "List the credentials about an agent, newest first, including revoked and expired ones.",
    section: "Credentials",
    auth: "bearer",
    audited: "never",
    scope: "credentials:read",
    tier: "read",
    query: v.object({ ...pageQuery, type }),
    ok: {
      200: v.object({
        agent_id: v.string(),
        credentials: describeAs(v.array(StoredCredential), "The credentials, newest first."),
        next_cursor: nextCursor,
      }),
    },
    refusals: ["credential.not_found", "request.invalid"],
  }),
  submitCredentials: defineOperation({
    method: "POST",
    path: "/api/v1/agents/:agentId/credentials",
    summary:
      "Submit credentials that others issued about an agent; all of them are stored or none.",
    section: "Credentials",
    auth: "bearer",
    scope: "task:submit",
    tier: "write",
    body: v.object({
      credentials: describeAs(
        v.pipe(
          v.array(looseObject),
          v.minLength(1, "must contain at least one credential"),
          v.maxLength(
            limits.submittedCredentials,
            `must contain at most ${limits.submittedCredentials} credentials`,
          ),
        ),
        "The credentials, W3C Verifiable Credentials 2.0.",
      ),
    }),
    ok: {
      200: v.object({ agent_id: v.string(), credential_ids: v.array(v.string()) }),
      201: v.object({ agent_id: v.string(), credential_ids: v.array(v.string()) }),
    },
    refusals: [
      "agent.not_found",
      "credential.too_large",
      "credential.invalid",
      "credential.type_unknown",
      "credential.wrong_subject",
      "credential.wrong_issuer",
      "credential.not_participant",
      "credential.id_taken",
    ],
  }),
  presentCredentials: defineOperation({
    method: "POST",
    path: "/api/v1/agents/:agentId/presentation",
    summary: "Create a presentation of the agent's valid credentials, signed by the relay.",
    section: "Credentials",
    auth: "bearer",
    ownerOnly: true,
    scope: "credentials:read",
    tier: "write",
    query: v.object({ type }),
    body: v.object({
      audience: describeAs(
        v.optional(id),
        "The audience of the presentation, which its proof names as `domain`.",
      ),
      challenge: describeAs(v.optional(id), "The verifier's challenge, which the proof repeats."),
    }),
    ok: {
      200: v.object({
        presentation: describeAs(
          looseObject,
          "A W3C Verifiable Presentation, signed by the relay.",
        ),
        credential_count: describeAs(wholeNumber, "The number of credentials in the presentation."),
        relay_did: describeAs(v.string(), "The did:key of the relay."),
      }),
    },
    refusals: ["credential.not_found"],
  }),
  verifyCredential: defineOperation({
    method: "POST",
    path: "/api/v1/credentials/verify",
    whileFrozen: true,
    summary: "Verify a credential: its proof, its dates and its revocation at this relay.",
    section: "Credentials",
    auth: "public",
    tier: "read",
    body: VerifiableCredentialSchema,
    rawBody: true,
    ok: {
      200: v.object({
        valid: describeAs(v.boolean(), "Whether the credential is valid."),
        reasons: describeAs(
          v.array(v.string()),
          "The code of the reason why it is not valid; empty if it is valid.",
        ),
        issuer: describeAs(
          v.nullable(v.string()),
          "The did:key of the issuer; null if the credential names none.",
        ),
        subject: describeAs(
          v.nullable(v.string()),
          "The did:key of the subject; null if the credential names none.",
        ),
      }),
    },
    refusals: ["credential.too_large"],
  }),
  revokeCredential: defineOperation({
    method: "POST",
    path: "/api/v1/agents/:agentId/revoke-credential",
    summary: "Revoke a credential permanently, as its subject or its issuer.",
    section: "Credentials",
    auth: "bearer",
    operator: "operate",
    ownerOnly: true,
    scope: "agent:write",
    singleUse: true,
    tier: "write",
    body: v.object({
      credential_id: id,
      reason: describeAs(v.optional(shortText), "The reason for the revocation."),
    }),
    ok: { 200: CredentialStatus },
    refusals: ["credential.not_found", "credential.not_participant"],
  }),
  credentialStatus: defineOperation({
    method: "GET",
    path: "/api/v1/credentials/:credentialId/status",
    summary: "Check whether a credential was revoked at this relay.",
    section: "Credentials",
    auth: "public",
    tier: "public",
    ok: { 200: CredentialStatus },
    refusals: ["credential.not_found"],
  }),
} as const;
