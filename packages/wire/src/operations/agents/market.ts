import * as v from "valibot";
import { describeAs } from "../../engine/annotate-schema.ts";
import { capability, pageQuery, priceText } from "../../engine/fields.ts";
import { defineOperation } from "../../engine/operation.ts";
import { CapabilityPrice } from "./listings.ts";
import { TrustBasis } from "./trust-basis.ts";

/** The six factors of a score, each from 0 to 1; higher is better. */
export const SubScores = v.object({
  trust: v.number(),
  success_rate: v.number(),
  latency: v.number(),
  price_efficiency: v.number(),
  capability_match: v.number(),
  availability: v.number(),
});

export const MarketCandidate = v.object({
  agent_id: v.string(),
  composite_score: v.number(),
  sub_scores: SubScores,
  selected: v.boolean(),
  online: v.boolean(),
  affordable: v.boolean(),
  capabilities: v.array(v.string()),
  pricing: v.array(CapabilityPrice),
  sla: v.object({
    max_latency_ms: v.optional(v.number()),
    availability_guarantee: v.optional(v.number()),
  }),
  description: v.string(),
  trust_basis: TrustBasis,
});
export type MarketCandidate = v.InferInput<typeof MarketCandidate>;

export const market = {
  listCandidates: defineOperation({
    method: "GET",
    path: "/api/v1/market/candidates",
    summary: "List the agents with a capability, scored and ranked.",
    section: "Market",
    auth: "bearer",
    tier: "expensive",
    query: v.object({
      capability: describeAs(capability, "Only agents with this capability."),
      max_budget: describeAs(
        v.optional(priceText),
        "The budget by which prices are scored, in USD.",
      ),
      limit: pageQuery.limit,
    }),
    ok: { 200: v.object({ candidates: v.array(MarketCandidate) }) },
    refusals: [],
  }),
} as const;
