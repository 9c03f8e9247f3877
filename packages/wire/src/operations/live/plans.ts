import { LEDGER_STATUSES, STEP_STATUSES } from "@agent/ledger";
import * as v from "valibot";
import { describeAs } from "../../engine/annotate-schema.ts";
import {
  agentId,
  capabilities,
  capability,
  count,
  extensibleEnum,
  hash,
  id,
  pathId,
  longText,
  money,
  nextCursor,
  pageQuery,
  price,
  timestamp,
  wholeNumber,
} from "../../engine/fields.ts";
import { limits } from "../../engine/limits.ts";
import { defineOperation } from "../../engine/operation.ts";

const optionalTime = v.optional(v.nullable(timestamp), null);

const StepBody = v.object({
  step_id: id,
  ordinal: count,
  description: describeAs(v.optional(longText, ""), "A description of the step, in plain text."),
  status: describeAs(v.optional(v.picklist(STEP_STATUSES), "pending"), "The state of the step."),
  tools_used: v.optional(capabilities, []),
  tool_calls: v.optional(count, 0),
  started_at: describeAs(
    optionalTime,
    "The time of the start, in ms since the Unix epoch; null until then.",
  ),
  completed_at: describeAs(
    optionalTime,
    "The time of completion, in ms since the Unix epoch; null until then.",
  ),
  delegation: v.optional(v.object({ receipt_hash: hash })),
  agent_id: describeAs(
    v.optional(agentId),
    "The id of the agent for this step; if absent, the best agent with `capability`.",
  ),
  capability: describeAs(
    v.optional(capability),
    "The capability that is required of the agent; it determines the price.",
  ),
  max_budget: describeAs(v.optional(price), "The maximum price of this step, in USD."),
});
type StepBody = v.InferOutput<typeof StepBody>;

/** Counts the distinct agent searches of a plan; steps with equal criteria share one search. */
function countSearches(steps: readonly StepBody[]): number {
  const searching = steps.filter((step) => step.agent_id === undefined && step.capability);
  return new Set(searching.map((step) => JSON.stringify([step.capability, step.max_budget]))).size;
}

const PlanBody = v.object({
  plan_id: describeAs(v.optional(pathId), "The id of the plan; the relay chooses one if absent."),
  goal_id: pathId,
  title: describeAs(longText, "The title."),
  status: describeAs(v.optional(v.picklist(LEDGER_STATUSES), "active"), "The state of the plan."),
  max_budget: describeAs(v.optional(price), "The maximum total price of the steps, in USD."),
  steps: describeAs(
    v.optional(
      v.pipe(
        v.array(StepBody),
        v.maxLength(limits.planSteps, `must contain at most ${limits.planSteps} entries`),
        v.check(
          (steps) => new Set(steps.map(({ step_id }) => step_id)).size === steps.length,
          "must name each step once",
        ),
        v.check(
          (steps) => countSearches(steps) <= limits.planSearches,
          `must search for agents by at most ${limits.planSearches} different capabilities and budgets`,
        ),
      ),
      [],
    ),
    "The steps, each with its own `step_id`.",
  ),
});

/** The steps by which an agent pursues a goal, with their progress. */
export const Plan = v.object({
  ...PlanBody.entries,
  status: describeAs(extensibleEnum(LEDGER_STATUSES), "The state of the plan."),
  steps: describeAs(
    v.array(
      v.object({
        ...StepBody.entries,
        status: describeAs(extensibleEnum(STEP_STATUSES), "The state of the step."),
      }),
    ),
    "The steps with their progress.",
  ),
  plan_id: describeAs(v.string(), "The id of the plan."),
  agent_id: v.string(),
  created_at: wholeNumber,
  updated_at: wholeNumber,
});
/** A plan as a relay returns it, with the enumeration values of its own version. */
export type Plan = Omit<v.InferOutput<typeof Plan>, "status" | "steps"> &
  Pick<v.InferOutput<typeof PlanBody>, "status" | "steps">;

/** The agent and the price of a step. */
const StepAllocation = v.object({
  step_id: v.string(),
  agent_id: describeAs(v.string(), "The id of the agent for the step."),
  amount: describeAs(money, "The price of the step, in USD."),
});
export type StepAllocation = v.InferOutput<typeof StepAllocation>;

const PutPlanAnswer = v.object({
  ...Plan.entries,
  allocation: describeAs(
    v.optional(v.array(StepAllocation)),
    "The agent and the price of each step; only for a plan with agents, capabilities or a budget, and empty if its budget does not suffice.",
  ),
});

export const plans = {
  putPlan: defineOperation({
    method: "POST",
    path: "/api/v1/agents/:agentId/plans",
    summary: "Create or update a plan; the response allocates its steps to agents with prices.",
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
    summary: "List an agent's plans, newest first, optionally those of one goal.",
    section: "Records",
    auth: "bearer",
    ownerOnly: true,
    scope: "task:read",
    tier: "read",
    query: v.object({
      goal_id: describeAs(v.optional(id), "Only plans of this goal."),
      ...pageQuery,
    }),
    ok: {
      200: v.object({
        plans: describeAs(v.array(Plan), "The plans, newest first."),
        next_cursor: nextCursor,
      }),
    },
    refusals: ["request.invalid"],
  }),
  getPlan: defineOperation({
    method: "GET",
    path: "/api/v1/agents/:agentId/plans/:planId",
    summary: "Get a plan with its steps.",
    section: "Records",
    auth: "bearer",
    ownerOnly: true,
    scope: "task:read",
    tier: "read",
    ok: { 200: Plan },
    refusals: ["plan.not_found"],
  }),
} as const;
