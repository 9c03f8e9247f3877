import * as v from "valibot";
import { describeAs } from "../../engine/annotate-schema.ts";
import { wholeNumber } from "../../engine/fields.ts";
import { SubScores } from "./market.ts";
import { defineOperation } from "../../engine/operation.ts";
import { Check } from "./registry.ts";

/** An agent's rank in a query for one of its capabilities. */
const QueryRank = v.object({
  capability: v.string(),
  rank: describeAs(
    v.nullable(wholeNumber),
    "The rank from 1; null if the query does not return the agent.",
  ),
  of: describeAs(wholeNumber, "The number of agents that the query returns."),
  composite_score: v.number(),
  sub_scores: describeAs(
    SubScores,
    "The six factors of the score, each from 0 to 1; higher is better.",
  ),
});

export const Visibility = v.object({
  agent_id: v.string(),
  checks: describeAs(v.array(Check), "The checks that decide whether the agent can be found."),
  queries: describeAs(v.array(QueryRank), "The rank in the query for each of its capabilities."),
  hints: describeAs(
    v.array(v.string()),
    "Changes that would make the agent findable or rank it higher.",
  ),
});
export type Visibility = v.InferOutput<typeof Visibility>;

export const visibility = {
  getVisibility: defineOperation({
    method: "GET",
    path: "/api/v1/agents/:agentId/visibility",
    summary:
      "Get the checks that decide whether an agent can be found, and its rank in queries for its capabilities.",
    section: "Registry",
    auth: "bearer",
    audited: "never",
    ownerOnly: true,
    tier: "expensive",
    ok: { 200: Visibility },
    refusals: ["agent.not_found"],
  }),
} as const;
