import * as v from "valibot";
import { SubScores } from "./market.ts";
import { defineOperation } from "../../engine/operation.ts";
import { Check } from "./registry.ts";

/** How an agent fares where somebody asks for one of its capabilities. */
const QueryRank = v.object({
  capability: v.string(),
  /** From 1; null where the query does not show it. */
  rank: v.nullable(v.number()),
  of: v.number(),
  composite_score: v.number(),
  sub_scores: SubScores,
});

export const Visibility = v.object({
  agent_id: v.string(),
  checks: v.array(Check),
  queries: v.array(QueryRank),
  /** What would make the agent be found, or found earlier. */
  hints: v.array(v.string()),
});
export type Visibility = v.InferOutput<typeof Visibility>;

export const visibility = {
  getVisibility: defineOperation({
    method: "GET",
    path: "/api/v1/agents/:agentId/visibility",
    summary: "What keeps an agent from being found, and at which rank its queries show it.",
    section: "Registry",
    auth: "bearer",
    ownerOnly: true,
    tier: "expensive",
    ok: { 200: Visibility },
    refusals: ["agent.not_found"],
  }),
} as const;
