import * as v from "valibot";
import { looseObject, wholeNumber } from "../../engine/fields.ts";
import { SubScores } from "../agents/market.ts";
import { defineOperation } from "../../engine/operation.ts";
import { RoutingChoice } from "./task.ts";

/** The inputs and the choice of a scored routing; `replayRanking` of `@agent/routing-semiring` takes it. */
export const RoutingRecord = v.object({
  /** The name and version of the scoring rules. */
  algorithm: v.string(),
  seed: wholeNumber,
  weights: SubScores,
  exploration_drive: v.number(),
  from: v.string(),
  required_capabilities: v.array(v.string()),
  max_budget: v.nullable(v.number()),
  /** Absent if the submission had no `max_budget`. */
  price_cap: v.optional(v.number()),
  candidates: v.array(looseObject),
  /** Present if `candidates` are only the best of more than 1000. */
  excerpt: v.optional(
    v.object({
      /** The number of all candidates. */
      candidates: wholeNumber,
      /** The number of those that could be chosen. */
      eligible: wholeNumber,
      /** The mean cost of all candidates. */
      mean_cost: v.number(),
      /** The SHA-256 of the SHA-256 of each candidate's JSON, in order: 64 hex digits. */
      inputs_hash: v.string(),
    }),
  ),
  graph: v.array(
    v.object({
      from: v.string(),
      to: v.string(),
      trust: v.number(),
      cost: v.number(),
      latency: v.number(),
      reliability: v.number(),
    }),
  ),
  choice: v.nullable(RoutingChoice),
});

export const routing = {
  getRouting: defineOperation({
    method: "GET",
    path: "/agent/:agentId/task/:taskId/routing",
    summary:
      "Get the recorded inputs of a task's scored routing, from which its choice can be replayed.",
    section: "Tasks",
    auth: "bearer",
    scope: "task:read",
    tier: "read",
    rawAnswer: true,
    ok: { 200: RoutingRecord },
    refusals: ["task.not_found", "task.not_submitter", "routing.not_found"],
  }),
} as const;
