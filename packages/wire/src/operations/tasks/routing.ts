import * as v from "valibot";
import { describeAs } from "../../engine/annotate-schema.ts";
import { looseObject, wholeNumber } from "../../engine/fields.ts";
import { SubScores } from "../agents/market.ts";
import { defineOperation } from "../../engine/operation.ts";
import { RoutingChoice } from "./task.ts";

/** The inputs and the choice of a scored routing; `replayRanking` of `@agent/routing-semiring` takes it. */
export const RoutingRecord = v.object({
  algorithm: describeAs(v.string(), "The name and version of the scoring rules."),
  seed: describeAs(wholeNumber, "The seed of the random choice."),
  weights: describeAs(SubScores, "The weight of each factor; only the proportions matter."),
  exploration_drive: describeAs(v.number(), "The degree of exploration in routing, from 0 to 1."),
  from: describeAs(v.string(), "The id of the asking agent."),
  required_capabilities: v.array(v.string()),
  max_budget: describeAs(
    v.nullable(v.number()),
    "The maximum price that prices were scored against, in USD; null if there was none.",
  ),
  price_cap: describeAs(
    v.optional(v.number()),
    "The highest price that was accepted, in USD; absent if the submission had no `max_budget`.",
  ),
  candidates: describeAs(
    v.array(looseObject),
    "The candidates as they were known at the decision.",
  ),
  excerpt: describeAs(
    v.optional(
      v.object({
        candidates: describeAs(wholeNumber, "The number of all candidates."),
        eligible: describeAs(wholeNumber, "The number of those that could be chosen."),
        mean_cost: describeAs(
          v.number(),
          "The cost with which prices were compared, in USD: the median of the most trusted candidates.",
        ),
        inputs_hash: describeAs(
          v.string(),
          "The SHA-256 of the SHA-256 of each candidate's JSON, in order, as 64 hex digits.",
        ),
      }),
    ),
    "Present if `candidates` are only the best of more than 1000.",
  ),
  graph: describeAs(
    v.array(
      v.object({
        from: describeAs(v.string(), "The id at which the hop begins."),
        to: describeAs(v.string(), "The id at which the hop ends."),
        trust: describeAs(v.number(), "The trust along the hop, from 0 to 1."),
        cost: describeAs(v.number(), "The cost of the hop, in USD."),
        latency: describeAs(v.number(), "The latency of the hop, in ms."),
        reliability: describeAs(v.number(), "The reliability of the hop, from 0 to 1."),
      }),
    ),
    "The hops of the routes to the candidates.",
  ),
  choice: describeAs(
    v.nullable(RoutingChoice),
    "The choice; null if no candidate could be chosen.",
  ),
});

export const routing = {
  getRouting: defineOperation({
    method: "GET",
    path: "/agent/:agentId/task/:taskId/routing",
    summary:
      "Get the recorded inputs of a task's scored routing, from which its choice can be replayed.",
    section: "Tasks",
    auth: "bearer",
    audited: "never",
    scope: "task:read",
    tier: "read",
    rawAnswer: true,
    ok: { 200: RoutingRecord },
    refusals: ["task.not_found", "task.not_submitter", "routing.not_found"],
  }),
} as const;
