import * as v from "valibot";
import { wholeNumber } from "../../engine/fields.ts";
import { SubScores } from "./market.ts";
import { defineOperation } from "../../engine/operation.ts";
import { Check } from "./registry.ts";

/** An agent's rank in a query for one of its capabilities. */
const QueryRank = v.object({
  capability: v.string(),
  /** From 1; null if the query does not return the agent. */
  rank: v.nullable(wholeNumber),
  of: wholeNumber,
  composite_score: v.number(),
  sub_scores: SubScores,
});

export const Visibility = v.object({
  agent_id: v.string(),
  checks: v.array(Check),
  queries: v.array(QueryRank),
  /** Changes that would let the agent be found, or be ranked higher. */
  hints: v.array(v.string()),
});
export type Visibility = v.InferOutput<typeof Visibility>;

export const visibility = {
  getVisibility: defineOperation({
    method: "GET",
    path: "/api/v1/agents/:agentId/visibility",
    summary:
      "Get what keeps an agent from being found and its rank in queries for its capabilities.",
    section: "Registry",
    auth: "bearer",
    ownerOnly: true,
    tier: "expensive",
    ok: { 200: Visibility },
    refusals: ["agent.not_found"],
  }),
} as const;
