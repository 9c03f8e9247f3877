import { LEDGER_STATUSES, STEP_STATUSES } from "@agent/ledger";
import * as v from "valibot";
import {
  agentId,
  capabilities,
  capability,
  count,
  extensibleEnum,
  hash,
  id,
  longText,
  money,
  nextCursor,
  pageQuery,
  price,
  timestamp,
} from "../../engine/fields.ts";
import { limits } from "../../engine/limits.ts";
import { defineOperation } from "../../engine/operation.ts";

const optionalTime = v.optional(v.nullable(timestamp), null);

const StepBody = v.object({
  step_id: id,
  ordinal: count,
  description: v.optional(longText, ""),
  status: v.optional(v.picklist(STEP_STATUSES), "pending"),
  tools_used: v.optional(capabilities, []),
  tool_calls: v.optional(count, 0),
  started_at: optionalTime,
  completed_at: optionalTime,
  delegation: v.optional(v.object({ receipt_hash: hash })),
  /** Who is to do it; without, the best agent with `capability`. */
  agent_id: v.optional(agentId),
  /** What is asked of the agent, and so its price. */
  capability: v.optional(capability),
  /** What this step may cost. */
  max_budget: v.optional(price),
});
type StepBody = v.InferOutput<typeof StepBody>;

/** Steps that look for an agent alike are looked for once. */
function countSearches(steps: readonly StepBody[]): number {
  const searching = steps.filter((step) => step.agent_id === undefined && step.capability);
  return new Set(searching.map((step) => JSON.stringify([step.capability, step.max_budget]))).size;
}

const PlanBody = v.object({
  plan_id: v.optional(id),
  goal_id: id,
  title: longText,
  status: v.optional(v.picklist(LEDGER_STATUSES), "active"),
  /** What the steps may cost together. */
  max_budget: v.optional(price),
  steps: v.optional(
    v.pipe(
      v.array(StepBody),
      v.maxLength(limits.planSteps, `has to hold at most ${limits.planSteps} entries`),
      v.check(
        (steps) => new Set(steps.map(({ step_id }) => step_id)).size === steps.length,
        "has to name each step once",
      ),
      v.check(
        (steps) => countSearches(steps) <= limits.planSearches,
        `has to look for agents by at most ${limits.planSearches} different capabilities and budgets`,
      ),
    ),
    [],
  ),
});

/** How an agent means to reach a goal, and how far it has come. */
export const Plan = v.object({
  ...PlanBody.entries,
  status: extensibleEnum(LEDGER_STATUSES),
  steps: v.array(v.object({ ...StepBody.entries, status: extensibleEnum(STEP_STATUSES) })),
  plan_id: v.string(),
  agent_id: v.string(),
  created_at: v.number(),
  updated_at: v.number(),
});
/** A plan as a relay answers it, with the words of its own version. */
export type Plan = Omit<v.InferOutput<typeof Plan>, "status" | "steps"> &
  Pick<v.InferOutput<typeof PlanBody>, "status" | "steps">;

/** Who does a step at which price. */
const StepAllocation = v.object({ step_id: v.string(), agent_id: v.string(), amount: money });
export type StepAllocation = v.InferOutput<typeof StepAllocation>;

const PutPlanAnswer = v.object({
  ...Plan.entries,
  /** Of a plan with agents, capabilities or a budget; empty when it cannot be paid as it stands. */
  allocation: v.optional(v.array(StepAllocation)),
});

export const plans = {
  putPlan: defineOperation({
    method: "POST",
    path: "/api/v1/agents/:agentId/plans",
    summary:
      "Record a plan, or how far one has come, and learn who would do its steps at which price.",
    section: "Records",
    auth: "bearer",
    ownerOnly: true,
    scope: "ledger:write",
    tier: "write",
    body: PlanBody,
    ok: { 200: PutPlanAnswer, 201: PutPlanAnswer },
    refusals: ["agent.not_found"],
  }),
  listPlans: defineOperation({
    method: "GET",
    path: "/api/v1/agents/:agentId/plans",
    summary: "An agent's plans, newest first, all of them or those of a goal.",
    section: "Records",
    auth: "bearer",
    ownerOnly: true,
    scope: "task:read",
    tier: "read",
    query: v.object({ goal_id: v.optional(id), ...pageQuery }),
    ok: { 200: v.object({ plans: v.array(Plan), next_cursor: nextCursor }) },
    refusals: ["request.invalid"],
  }),
  getPlan: defineOperation({
    method: "GET",
    path: "/api/v1/agents/:agentId/plans/:planId",
    summary: "One plan with its steps.",
    section: "Records",
    auth: "bearer",
    ownerOnly: true,
    scope: "task:read",
    tier: "read",
    ok: { 200: Plan },
    refusals: ["plan.not_found"],
  }),
} as const;
