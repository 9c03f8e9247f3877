import * as v from "valibot";
import { describeAs } from "../../engine/annotate-schema.ts";
import { id, looseObject, shortText, wholeNumber } from "../../engine/fields.ts";
import { limits } from "../../engine/limits.ts";
import { defineOperation } from "../../engine/operation.ts";

/** A key of an agent and the period in which it was bound to the agent, in ms; null while it is current. */
const BoundKey = v.object({
  public_key: v.string(),
  valid_from: describeAs(
    wholeNumber,
    "The time from which the key was bound to the agent, in ms since the Unix epoch.",
  ),
  valid_until: describeAs(
    v.nullable(wholeNumber),
    "The time until which the key was bound to the agent, in ms since the Unix epoch; null while it is current.",
  ),
});

/** All keys of an agent, oldest first, and the succession record from each key to the next. */
export const KeyHistory = v.object({
  agent_id: v.string(),
  current_public_key: describeAs(
    v.string(),
    "The current Ed25519 public key, as 64 lower-case hex digits.",
  ),
  keys: describeAs(v.array(BoundKey), "All keys of the agent, oldest first."),
  chain: describeAs(
    v.array(looseObject),
    "The succession record from each key to the next, oldest first.",
  ),
});
export type KeyHistory = v.InferOutput<typeof KeyHistory>;

export const keys = {
  rotateKey: defineOperation({
    method: "POST",
    path: "/api/v1/agents/:agentId/rotate-key",
    summary: "Rotate an agent's key; tokens and sockets of the old key end.",
    section: "Registry",
    auth: "bearer",
    ownerOnly: true,
    scope: "agent:write",
    singleUse: true,
    tier: "auth",
    body: v.object({
      succession: describeAs(
        looseObject,
        "The succession record from the current key to the new one, signed by both.",
      ),
    }),
    ok: {
      200: v.object({
        agent_id: v.string(),
        public_key: v.string(),
        rotated: describeAs(
          v.boolean(),
          "Whether the key changed; false if it was current before.",
        ),
      }),
    },
    refusals: [
      "agent.not_found",
      "agent.key_unacceptable",
      "agent.key_in_use",
      "agent.succession_invalid",
      "agent.revoked",
    ],
  }),
  getSuccession: defineOperation({
    method: "GET",
    path: "/api/v1/agents/:agentId/succession",
    summary: "Get an agent's keys and the succession record from each key to the next.",
    section: "Registry",
    auth: "public",
    tier: "public",
    ok: { 200: KeyHistory },
    refusals: ["agent.not_found"],
  }),
  revokeAgent: defineOperation({
    method: "POST",
    path: "/api/v1/agents/:agentId/revoke",
    summary:
      "Revoke an agent permanently: its tokens, sockets, listing and waiting tasks end, money and history stay.",
    section: "Registry",
    auth: "bearer",
    operator: "operate",
    ownerOnly: true,
    scope: "agent:write",
    singleUse: true,
    tier: "auth",
    body: v.object({ reason: describeAs(v.optional(shortText), "The reason for the revocation.") }),
    ok: {
      200: v.object({
        agent_id: v.string(),
        revoked: describeAs(v.literal(true), "Always true: the agent is revoked."),
        revoked_at: wholeNumber,
      }),
    },
    refusals: ["agent.not_found"],
  }),
  revokeTokens: defineOperation({
    method: "POST",
    path: "/api/v1/agents/:agentId/revoke-tokens",
    summary: "Revoke signed tokens by their `jti`; the agent's sockets must authenticate again.",
    section: "Registry",
    auth: "bearer",
    operator: "operate",
    ownerOnly: true,
    scope: "agent:write",
    singleUse: true,
    tier: "auth",
    body: v.object({
      jtis: describeAs(
        v.pipe(
          v.array(id),
          v.minLength(1, "must not be empty"),
          v.maxLength(limits.revokedTokens, `must contain at most ${limits.revokedTokens} entries`),
        ),
        "The `jti` claims of the tokens.",
      ),
    }),
    ok: {
      200: v.object({
        agent_id: v.string(),
        revoked: describeAs(wholeNumber, "The number of different tokens that were named."),
      }),
    },
    refusals: ["agent.not_found"],
  }),
} as const;
