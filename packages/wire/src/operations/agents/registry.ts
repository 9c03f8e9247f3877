import * as v from "valibot";
import { describeAs } from "../../engine/annotate-schema.ts";
import {
  agentId,
  capability,
  count,
  extensibleEnum,
  freeText,
  looseObject,
  nextCursor,
  pageQuery,
  wholeNumber,
} from "../../engine/fields.ts";
import { defineOperation } from "../../engine/operation.ts";
import { InspectionCounts } from "../tasks/acceptance.ts";
import { CapabilityPrice } from "./listings.ts";
import { BootstrapBody, Bootstrapped, RegisterBody } from "./registration.ts";
import { TrustBasis } from "./trust-basis.ts";

/** Trust levels on the wire (docs/decisions.md, 6). */
export const TrustLevel = v.picklist([
  "unknown",
  "first_contact",
  "verified",
  "trusted",
  "blocked",
]);
export type TrustLevel = v.InferOutput<typeof TrustLevel>;

/** The time since an agent was last seen, in four steps. */
export const Freshness = v.picklist(["awake", "recent", "dormant", "cold"]);
export type Freshness = v.InferOutput<typeof Freshness>;

/** The result of one check of an agent's registration, for its owner. */
export const Check = v.object({
  check: describeAs(v.string(), "The name of the check."),
  ok: describeAs(v.boolean(), "Whether the check passed."),
  detail: describeAs(v.string(), "The finding, in plain text."),
});

export const DiscoveryEntry = v.object({
  agent_id: v.string(),
  public_key: describeAs(
    v.nullable(v.string()),
    "The Ed25519 public key, as 64 hex digits; null if none is known.",
  ),
  did: describeAs(v.nullable(v.string()), "The public key as a did:key; null if none is known."),
  endpoint_url: describeAs(
    v.nullable(v.string()),
    "The http or https address of the agent; null if none is known.",
  ),
  capabilities: v.array(v.string()),
  metadata: looseObject,
  trust_level: extensibleEnum(TrustLevel.options),
  trust_basis: TrustBasis,
  cost: describeAs(
    v.nullable(v.number()),
    "The price of a task for the queried capability in USD; null if it has none.",
  ),
  availability: describeAs(
    v.number(),
    "1 while the agent is reachable, else half of the availability that its listing promises.",
  ),
  online: describeAs(v.boolean(), "Whether the agent is reachable now."),
  freshness: extensibleEnum(Freshness.options),
  pricing: v.array(CapabilityPrice),
  source_relay: v.string(),
  relay_name: v.string(),
  hop_distance: describeAs(
    count,
    "The number of relays between this one and the agent; 0 for an agent of this relay.",
  ),
  key_proven: describeAs(
    v.optional(v.boolean()),
    "Whether a proof, token or receipt proved the key under this id; only for an agent of this relay.",
  ),
  id_conflict: describeAs(
    v.optional(v.literal(true)),
    "True if other relays claim this id under different keys; a task for it must name `public_key`.",
  ),
});
export type DiscoveryEntry = v.InferInput<typeof DiscoveryEntry>;

/** An agent with its inspections before payment; agents of other relays are shown without them. */
const AgentEntry = v.object({
  ...DiscoveryEntry.entries,
  inspections: describeAs(
    v.optional(
      v.object({
        as_delegator: describeAs(InspectionCounts, "Inspections of results that it ordered."),
        as_executor: describeAs(InspectionCounts, "Inspections of its own results."),
        as_arbiter: describeAs(
          v.object({
            decided: describeAs(count, "The number of disputes that it decided."),
            passed: describeAs(count, "The number of disputes that it did not decide in time."),
          }),
          "Disputes that it decided, and those that it did not decide in time.",
        ),
      }),
    ),
    "The outcomes of its inspections before payment; only for an agent of this relay.",
  ),
});

export const registry = {
  bootstrap: defineOperation({
    method: "POST",
    path: "/api/v1/agents/bootstrap",
    summary: "Bind an Ed25519 key to an agent id; repeating it with the same key changes nothing.",
    section: "Registry",
    auth: "public",
    readsCaller: true,
    tier: "auth",
    body: BootstrapBody,
    ok: { 200: Bootstrapped, 201: Bootstrapped },
    refusals: [
      "agent.id_reserved",
      "agent.key_unacceptable",
      "agent.id_not_of_key",
      "agent.key_changed",
      "agent.key_in_use",
      "agent.key_displaced",
      "agent.succession_invalid",
      "agent.proof_required",
      "agent.proof_invalid",
      "agent.revoked",
    ],
  }),
  registerAgent: defineOperation({
    method: "POST",
    path: "/api/v1/agents/register",
    summary: "Register an agent's endpoint and capabilities for discovery.",
    section: "Registry",
    auth: "bearer",
    scope: "agent:write",
    tier: "auth",
    body: RegisterBody,
    ok: {
      200: v.object({
        registered: describeAs(v.literal(true), "Always true: the agent is registered."),
        agent_id: v.string(),
        expires_at: describeAs(
          v.nullable(wholeNumber),
          "The time at which the registration ends, in ms since the Unix epoch; null if it does not.",
        ),
        checks: describeAs(
          v.array(Check),
          "The checks that decide whether the agent can be found.",
        ),
      }),
    },
    refusals: [
      "request.invalid",
      "auth.not_owner",
      "agent.id_reserved",
      "agent.key_unacceptable",
      "agent.id_not_of_key",
      "agent.key_changed",
      "agent.key_in_use",
      "agent.key_displaced",
      "agent.succession_invalid",
      "agent.revoked",
    ],
  }),
  heartbeat: defineOperation({
    method: "POST",
    path: "/api/v1/agents/heartbeat",
    summary: "Record that the calling agent is alive.",
    section: "Registry",
    auth: "bearer",
    scope: "agent:write",
    tier: "read",
    body: v.object({
      agent_id: describeAs(v.optional(agentId), "The id of the agent; the caller's if absent."),
    }),
    ok: { 200: v.object({ agent_id: v.string(), last_seen_at: wholeNumber }) },
    refusals: ["request.invalid", "auth.not_owner", "agent.not_found"],
  }),
  discover: defineOperation({
    method: "GET",
    path: "/api/v1/agents/discover",
    summary:
      "List agents: all, those with a `capability`, or those whose texts contain every word of `q`, " +
      "ordered by the number of matching texts.",
    section: "Registry",
    auth: "bearer",
    audited: "never",
    tier: "read",
    query: v.object({
      capability: describeAs(v.optional(capability), "Only agents with this capability."),
      q: describeAs(v.optional(freeText), "Words that the texts of an agent must contain."),
      ...pageQuery,
    }),
    ok: {
      200: v.object({
        agents: describeAs(
          v.array(DiscoveryEntry),
          "The agents of this relay, and those that its peers have reported.",
        ),
        next_cursor: nextCursor,
      }),
    },
    refusals: ["request.invalid"],
  }),
  getAgent: defineOperation({
    method: "GET",
    path: "/api/v1/agents/:agentId",
    summary: "Get one agent of the registry.",
    section: "Registry",
    auth: "bearer",
    audited: "never",
    tier: "read",
    ok: { 200: AgentEntry },
    refusals: ["agent.not_found"],
  }),
  deregisterAgent: defineOperation({
    method: "DELETE",
    path: "/api/v1/agents/:agentId",
    summary: "Remove an agent from discovery; its key, account and history stay.",
    section: "Registry",
    auth: "bearer",
    ownerOnly: true,
    scope: "agent:write",
    tier: "write",
    ok: {
      200: v.object({
        agent_id: v.string(),
        registered: describeAs(v.literal(false), "Always false: the agent is not registered."),
      }),
    },
    refusals: ["agent.not_found"],
  }),
} as const;
