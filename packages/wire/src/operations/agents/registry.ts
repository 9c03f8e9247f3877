import * as v from "valibot";
import { describeAs } from "../../engine/annotate-schema.ts";
import {
  agentId,
  capabilities,
  capability,
  count,
  endpointUrl,
  extensibleEnum,
  freeText,
  longText,
  looseObject,
  nextCursor,
  objectOnly,
  pageQuery,
  publicKey,
  shortText,
  timestamp,
  wholeNumber,
} from "../../engine/fields.ts";
import { limits } from "../../engine/limits.ts";
import { defineOperation } from "../../engine/operation.ts";
import { InspectionCounts } from "../tasks/acceptance.ts";
import { CapabilityPrice } from "./listings.ts";
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

/** The time since the last sign of life of an agent, in four steps. */
export const Freshness = v.picklist(["awake", "recent", "dormant", "cold"]);
export type Freshness = v.InferOutput<typeof Freshness>;

/** A record or a list of them, oldest first; `verifySuccession` of `@agent/crypto` checks signatures. */
const succession = v.optional(
  v.union(
    [
      looseObject,
      v.pipe(
        v.array(looseObject),
        v.minLength(1, "must not be empty"),
        v.maxLength(
          limits.successionRecords,
          `must contain at most ${limits.successionRecords} records`,
        ),
      ),
    ],
    "must be a succession record or a list of them, oldest first",
  ),
);

const BootstrapBody = v.object({
  agent_id: agentId,
  public_key: publicKey,
  succession,
  proof: v.optional(v.object({ timestamp, signature: shortText })),
});

const Bootstrapped = v.object({
  agent_id: v.string(),
  device_id: v.string(),
  registered: v.boolean(),
});

const RegisterBody = v.object({
  agent_id: agentId,
  endpoint_url: endpointUrl,
  capabilities,
  metadata: v.optional(
    v.pipe(
      objectOnly(v.looseObject({ name: v.optional(shortText), description: v.optional(longText) })),
      v.check(
        (value) => JSON.stringify(value).length <= 16_384,
        "must be at most 16384 characters of JSON",
      ),
    ),
  ),
  federation_visible: v.optional(v.boolean()),
  public_key: v.optional(publicKey),
  succession,
});

/** The result of one check of an agent's registration, for its owner. */
export const Check = v.object({ check: v.string(), ok: v.boolean(), detail: v.string() });

export const DiscoveryEntry = v.object({
  agent_id: v.string(),
  public_key: v.nullable(v.string()),
  did: v.nullable(v.string()),
  endpoint_url: v.nullable(v.string()),
  capabilities: v.array(v.string()),
  metadata: looseObject,
  trust_level: extensibleEnum(TrustLevel.options),
  trust_basis: TrustBasis,
  cost: v.nullable(v.number()),
  availability: v.number(),
  online: v.boolean(),
  freshness: extensibleEnum(Freshness.options),
  pricing: v.array(CapabilityPrice),
  source_relay: v.string(),
  relay_name: v.string(),
  hop_distance: count,
  /** Only of an agent of this relay: whether a proof, token or receipt proved its key under this id. */
  key_proven: v.optional(v.boolean()),
  /** Other relays claim this id under different keys; a task for it must name `public_key`. */
  id_conflict: v.optional(v.literal(true)),
});
export type DiscoveryEntry = v.InferInput<typeof DiscoveryEntry>;

/** An agent with its inspections before payment; agents of other relays are shown without them. */
const AgentEntry = v.object({
  ...DiscoveryEntry.entries,
  inspections: v.optional(
    v.object({
      as_delegator: InspectionCounts,
      as_executor: InspectionCounts,
      /** Disputes that it decided, and those in which it let its time pass. */
      as_arbiter: v.object({ decided: count, passed: count }),
    }),
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
        registered: v.literal(true),
        agent_id: v.string(),
        expires_at: v.nullable(wholeNumber),
        checks: v.array(Check),
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
    body: v.object({ agent_id: v.optional(agentId) }),
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
    tier: "read",
    query: v.object({
      capability: describeAs(v.optional(capability), "Only agents with this capability."),
      q: describeAs(v.optional(freeText), "Words that the texts of an agent must contain."),
      ...pageQuery,
    }),
    ok: { 200: v.object({ agents: v.array(DiscoveryEntry), next_cursor: nextCursor }) },
    refusals: ["request.invalid"],
  }),
  getAgent: defineOperation({
    method: "GET",
    path: "/api/v1/agents/:agentId",
    summary: "Get one agent of the registry.",
    section: "Registry",
    auth: "bearer",
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
    ok: { 200: v.object({ agent_id: v.string(), registered: v.literal(false) }) },
    refusals: ["agent.not_found"],
  }),
} as const;
