import * as v from "valibot";
import { describeAs } from "../../engine/annotate-schema.ts";
import {
  capabilities,
  capability,
  currency,
  finite,
  longText,
  objectOnly,
  price,
  ratio,
  shortText,
  wholeNumber,
} from "../../engine/fields.ts";
import { limits } from "../../engine/limits.ts";
import { defineOperation } from "../../engine/operation.ts";
import { OfferedAcceptance } from "../tasks/acceptance.ts";

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
      v.maxLength(limits.capabilities, `must contain at most ${limits.capabilities} entries`),
      v.check(
        (prices) => new Set(prices.map((entry) => entry.capability)).size === prices.length,
        "must name each capability once",
      ),
    ),
    [],
  ),
  sla: v.optional(
    objectOnly(
      v.object({
        max_latency_ms: v.optional(v.pipe(finite, v.minValue(0, "must be 0 or more"))),
        availability_guarantee: v.optional(ratio),
      }),
    ),
  ),
  description: describeAs(v.optional(longText, ""), "What the agent offers, in plain text."),
  federation_hops: describeAs(
    v.optional(
      v.pipe(
        v.number(),
        v.integer("must be a whole number"),
        v.minValue(1, "must be from 1 to 3"),
        v.maxValue(3, "must be from 1 to 3"),
      ),
    ),
    "The most relays that may take their fee of a task from a relay that this one never met; 3 if absent.",
  ),
  pay_to_address: describeAs(
    v.optional(
      v.pipe(v.string(), v.regex(/^0x[0-9a-fA-F]{40}$/, "must be 0x followed by 40 hex digits")),
    ),
    "The address that is paid: 0x and 40 hex digits.",
  ),
  acceptance: describeAs(
    v.optional(OfferedAcceptance),
    "The inspection of results before payment that the agent offers; not offered if absent.",
  ),
  arbitrates: describeAs(
    v.optional(v.boolean()),
    "Whether other agents may name the agent as the arbiter of their inspections.",
  ),
});
export type ListingBody = v.InferOutput<typeof ListingBody>;

export const Listing = v.object({
  listing_id: v.string(),
  agent_id: v.string(),
  updated_at: wholeNumber,
  ...ListingBody.entries,
});
export type Listing = v.InferOutput<typeof Listing>;

export const listings = {
  putListing: defineOperation({
    method: "POST",
    path: "/api/v1/agents/:agentId/listing",
    summary: "Create or replace an agent's service listing.",
    section: "Registry",
    auth: "bearer",
    ownerOnly: true,
    scope: "agent:write",
    tier: "write",
    body: ListingBody,
    ok: { 200: Listing },
    refusals: ["request.invalid", "agent.not_found", "agent.revoked"],
  }),
  getListing: defineOperation({
    method: "GET",
    path: "/api/v1/agents/:agentId/listing",
    summary: "Get an agent's current service listing.",
    section: "Registry",
    auth: "public",
    tier: "read",
    ok: { 200: Listing },
    refusals: ["listing.not_found"],
  }),
} as const;
