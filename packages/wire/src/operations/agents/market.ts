import * as v from "valibot";
import { describeAs } from "../../engine/annotate-schema.ts";
import { capability, pageQuery, priceText } from "../../engine/fields.ts";
import { defineOperation } from "../../engine/operation.ts";
import { CapabilityPrice } from "./listings.ts";
import { TrustBasis } from "./trust-basis.ts";

/** The six factors of a score, each from 0 to 1; higher is better. */
export const SubScores = v.object({
  trust: describeAs(v.number(), "The factor of trust, from 0 to 1."),
  success_rate: describeAs(v.number(), "The factor of completed tasks, from 0 to 1."),
  latency: describeAs(v.number(), "The factor of latency, from 0 to 1."),
  price_efficiency: describeAs(v.number(), "The factor of the price, from 0 to 1."),
  capability_match: describeAs(v.number(), "The factor of matching capabilities, from 0 to 1."),
  availability: describeAs(v.number(), "The factor of availability, from 0 to 1."),
});

export const MarketCandidate = v.object({
  agent_id: v.string(),
  composite_score: v.number(),
  sub_scores: describeAs(
    SubScores,
    "The six factors of the score, each from 0 to 1; higher is better.",
  ),
  selected: describeAs(v.boolean(), "Whether a task would be given to this agent."),
  online: describeAs(v.boolean(), "Whether the agent is reachable now."),
  affordable: v.boolean(),
  capabilities: v.array(v.string()),
  pricing: v.array(CapabilityPrice),
  sla: v.object({
    max_latency_ms: v.optional(v.number()),
    availability_guarantee: v.optional(v.number()),
  }),
  description: describeAs(v.string(), "What the agent offers, in plain text."),
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
    audited: "never",
    tier: "expensive",
    query: v.object({
      capability: describeAs(capability, "Only agents with this capability."),
      max_budget: describeAs(
        v.optional(priceText),
        "The budget that prices are scored against, in USD.",
      ),
      limit: pageQuery.limit,
    }),
    ok: {
      200: v.object({
        candidates: describeAs(v.array(MarketCandidate), "The agents, best first."),
      }),
    },
    refusals: [],
  }),
} as const;
