import * as v from "valibot";
import { id, looseObject, shortText } from "../../engine/fields.ts";
import { limits } from "../../engine/limits.ts";
import { defineOperation } from "../../engine/operation.ts";

/** A key of an agent and when the relay took it as the agent's, in ms; null until it is left. */
const BoundKey = v.object({
  public_key: v.string(),
  valid_from: v.number(),
  valid_until: v.nullable(v.number()),
});

/** All keys that an agent had, oldest first, and the records by which it went from each to the next. */
export const KeyHistory = v.object({
  agent_id: v.string(),
  current_public_key: v.string(),
  keys: v.array(BoundKey),
  chain: v.array(looseObject),
});
export type KeyHistory = v.InferOutput<typeof KeyHistory>;

export const keys = {
  rotateKey: defineOperation({
    method: "POST",
    path: "/api/v1/agents/:agentId/rotate-key",
    summary: "Hand an agent over to its next key; tokens and sockets of the old one end.",
    section: "Registry",
    auth: "bearer",
    ownerOnly: true,
    scope: "agent:write",
    singleUse: true,
    tier: "auth",
    body: v.object({ succession: looseObject }),
    ok: {
      200: v.object({ agent_id: v.string(), public_key: v.string(), rotated: v.boolean() }),
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
    summary: "An agent's keys and the succession records that lead from each to the next.",
    section: "Registry",
    auth: "public",
    tier: "public",
    ok: { 200: KeyHistory },
    refusals: ["agent.not_found"],
  }),
  revokeAgent: defineOperation({
    method: "POST",
    path: "/api/v1/agents/:agentId/revoke",
    summary: "End an agent for good: its tokens, sockets and listing; money and history stay.",
    section: "Registry",
    auth: "bearer",
    ownerOnly: true,
    scope: "agent:write",
    singleUse: true,
    tier: "auth",
    body: v.object({ reason: v.optional(shortText) }),
    ok: {
      200: v.object({ agent_id: v.string(), revoked: v.literal(true), revoked_at: v.number() }),
    },
    refusals: ["agent.not_found"],
  }),
  revokeTokens: defineOperation({
    method: "POST",
    path: "/api/v1/agents/:agentId/revoke-tokens",
    summary:
      "End signed tokens by their `jti` before their time; the agent's sockets sign in anew.",
    section: "Registry",
    auth: "bearer",
    ownerOnly: true,
    scope: "agent:write",
    singleUse: true,
    tier: "auth",
    body: v.object({
      jtis: v.pipe(
        v.array(id),
        v.minLength(1, "has to be non-empty"),
        v.maxLength(limits.revokedTokens, `has to hold at most ${limits.revokedTokens} entries`),
      ),
    }),
    ok: { 200: v.object({ agent_id: v.string(), revoked: v.number() }) },
    refusals: ["agent.not_found"],
  }),
} as const;
