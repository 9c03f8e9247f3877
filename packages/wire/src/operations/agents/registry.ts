import * as v from "valibot";
import {
  agentId,
  capabilities,
  capability,
  count,
  currency,
  endpointUrl,
  extensibleEnum,
  finite,
  longText,
  looseObject,
  nextCursor,
  objectOnly,
  pageQuery,
  price,
  publicKey,
  ratio,
  shortText,
  timestamp,
} from "../../engine/fields.ts";
import { limits } from "../../engine/limits.ts";
import { defineOperation } from "../../engine/operation.ts";

/** Trust levels on the wire (docs/decisions.md, 6). */
export const TrustLevel = v.picklist([
  "unknown",
  "first_contact",
  "verified",
  "trusted",
  "blocked",
]);
export type TrustLevel = v.InferOutput<typeof TrustLevel>;

/** How long ago an agent was last heard of. */
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
          `must hold at most ${limits.successionRecords} records`,
        ),
      ),
    ],
    "must be a succession record or a list of them, oldest first",
  ),
);

export const BootstrapBody = v.object({
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

export const RegisterBody = v.object({
  agent_id: agentId,
  endpoint_url: endpointUrl,
  capabilities,
  metadata: v.optional(
    v.pipe(
      objectOnly(v.looseObject({ name: v.optional(shortText), description: v.optional(longText) })),
      v.check(
        (value) => JSON.stringify(value).length <= 16_384,
        "has to be at most 16384 characters of JSON",
      ),
    ),
  ),
  federation_visible: v.optional(v.boolean()),
  public_key: v.optional(publicKey),
  succession,
});

/** One thing that was looked at for an agent's owner. */
export const Check = v.object({ check: v.string(), ok: v.boolean(), detail: v.string() });

export const CapabilityPrice = v.object({
  capability,
  unit_cost: price,
  currency: v.optional(currency, "USD"),
  per: v.optional(shortText, "task"),
});

export const ListingBody = v.object({
  capabilities,
  pricing: v.optional(
    v.pipe(
      v.array(CapabilityPrice),
      v.maxLength(limits.capabilities, `has to hold at most ${limits.capabilities} entries`),
      v.check(
        (prices) => new Set(prices.map((entry) => entry.capability)).size === prices.length,
        "has to name each capability once",
      ),
    ),
    [],
  ),
  sla: v.optional(
    objectOnly(
      v.object({
        max_latency_ms: v.optional(v.pipe(finite, v.minValue(0, "has to be 0 or more"))),
        availability_guarantee: v.optional(ratio),
      }),
    ),
  ),
  description: v.optional(longText, ""),
  /** How many relays may have taken their fee of a task from relays that this one never met; 3 if absent. */
  federation_hops: v.optional(
    v.pipe(
      v.number(),
      v.integer("has to be a whole number"),
      v.minValue(1, "has to be within 1 and 3"),
      v.maxValue(3, "has to be within 1 and 3"),
    ),
  ),
  pay_to_address: v.optional(
    v.pipe(v.string(), v.regex(/^0x[0-9a-fA-F]{40}$/, "has to be 0x and 40 hex digits")),
  ),
});
export type ListingBody = v.InferOutput<typeof ListingBody>;

export const Listing = v.object({
  listing_id: v.string(),
  agent_id: v.string(),
  updated_at: v.number(),
  ...ListingBody.entries,
});
export type Listing = v.InferOutput<typeof Listing>;

export const DiscoveryEntry = v.object({
  agent_id: v.string(),
  public_key: v.nullable(v.string()),
  did: v.nullable(v.string()),
  endpoint_url: v.nullable(v.string()),
  capabilities: v.array(v.string()),
  metadata: looseObject,
  trust_level: extensibleEnum(TrustLevel.options),
  cost: v.nullable(v.number()),
  availability: v.number(),
  online: v.boolean(),
  freshness: extensibleEnum(Freshness.options),
  pricing: v.array(CapabilityPrice),
  source_relay: v.string(),
  relay_name: v.string(),
  hop_distance: count,
  /** Of an agent of this relay: whether a proof, token or receipt has proven its key under this id. */
  key_proven: v.optional(v.boolean()),
  /** Other relays claim this id under different keys; a task for it must name `public_key`. */
  id_conflict: v.optional(v.literal(true)),
});
export type DiscoveryEntry = v.InferInput<typeof DiscoveryEntry>;

/** Words that an agent's own texts must contain, all of them, in any order. */
const freeText = v.pipe(
  shortText,
  v.check(
    (text) => text.trim().split(/\s+/).length <= limits.searchedWords,
    `must contain at most ${limits.searchedWords} words`,
  ),
);

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
    summary: "Put an agent's endpoint and capabilities into the discovery registry.",
    section: "Registry",
    auth: "bearer",
    scope: "agent:write",
    tier: "auth",
    body: RegisterBody,
    ok: {
      200: v.object({
        registered: v.literal(true),
        agent_id: v.string(),
        expires_at: v.nullable(v.number()),
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
    summary: "Say that the calling agent is alive.",
    section: "Registry",
    auth: "bearer",
    scope: "agent:write",
    tier: "read",
    body: v.object({ agent_id: v.optional(agentId) }),
    ok: { 200: v.object({ agent_id: v.string(), last_seen_at: v.number() }) },
    refusals: ["request.invalid", "auth.not_owner", "agent.not_found"],
  }),
  discover: defineOperation({
    method: "GET",
    path: "/api/v1/agents/discover",
    summary:
      "Find agents, all of them, those with a capability, or those that say every word of `q`, the " +
      "ones that say it in most places first.",
    section: "Registry",
    auth: "bearer",
    tier: "read",
    query: v.object({
      capability: v.optional(capability),
      q: v.optional(freeText),
      ...pageQuery,
    }),
    ok: { 200: v.object({ agents: v.array(DiscoveryEntry), next_cursor: nextCursor }) },
    refusals: ["request.invalid"],
  }),
  getAgent: defineOperation({
    method: "GET",
    path: "/api/v1/agents/:agentId",
    summary: "One agent of the registry.",
    section: "Registry",
    auth: "bearer",
    tier: "read",
    ok: { 200: DiscoveryEntry },
    refusals: ["agent.not_found"],
  }),
  deregisterAgent: defineOperation({
    method: "DELETE",
    path: "/api/v1/agents/:agentId",
    summary: "Take an agent out of discovery; its key, account and history stay.",
    section: "Registry",
    auth: "bearer",
    ownerOnly: true,
    scope: "agent:write",
    tier: "write",
    ok: { 200: v.object({ agent_id: v.string(), registered: v.literal(false) }) },
    refusals: ["agent.not_found"],
  }),
  putListing: defineOperation({
    method: "POST",
    path: "/api/v1/agents/:agentId/listing",
    summary: "Register or replace an agent's service listing.",
    section: "Registry",
    auth: "bearer",
    ownerOnly: true,
    scope: "agent:write",
    tier: "write",
    body: ListingBody,
    ok: { 200: Listing },
    refusals: ["agent.not_found", "agent.revoked"],
  }),
  getListing: defineOperation({
    method: "GET",
    path: "/api/v1/agents/:agentId/listing",
    summary: "An agent's current service listing.",
    section: "Registry",
    auth: "public",
    tier: "read",
    ok: { 200: Listing },
    refusals: ["listing.not_found"],
  }),
} as const;
