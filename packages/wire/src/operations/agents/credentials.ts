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
  type: v.string(),
  credential: looseObject,
  issued_at: wholeNumber,
  revoked: v.boolean(),
});
export type StoredCredential = v.InferOutput<typeof StoredCredential>;

export const CredentialStatus = v.object({
  credential_id: v.string(),
  revoked: v.boolean(),
  revoked_at: v.exactOptional(wholeNumber),
  reason: v.exactOptional(v.string()),
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
    scope: "credentials:read",
    tier: "read",
    query: v.object({ ...pageQuery, type }),
    ok: {
      200: v.object({
        agent_id: v.string(),
        credentials: v.array(StoredCredential),
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
      credentials: v.pipe(
        v.array(looseObject),
        v.minLength(1, "must contain at least one credential"),
        v.maxLength(
          limits.submittedCredentials,
          `must contain at most ${limits.submittedCredentials} credentials`,
        ),
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
    body: v.object({ audience: v.optional(id), challenge: v.optional(id) }),
    ok: {
      200: v.object({
        presentation: looseObject,
        credential_count: wholeNumber,
        relay_did: v.string(),
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
        valid: v.boolean(),
        reasons: v.array(v.string()),
        issuer: v.nullable(v.string()),
        subject: v.nullable(v.string()),
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
    body: v.object({ credential_id: id, reason: v.optional(shortText) }),
    ok: { 200: CredentialStatus },
    refusals: ["credential.not_found", "credential.not_participant"],
  }),
  credentialStatus: defineOperation({
    method: "GET",
    path: "/api/v1/credentials/:credentialId/status",
    summary: "Get whether a credential was revoked at this relay.",
    section: "Credentials",
    auth: "public",
    tier: "public",
    ok: { 200: CredentialStatus },
    refusals: ["credential.not_found"],
  }),
} as const;
