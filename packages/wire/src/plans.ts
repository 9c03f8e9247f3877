import { LEDGER_STATUSES, STEP_STATUSES } from "@agent/ledger";
import * as v from "valibot";
import {
  capabilities,
  count,
  extensibleEnum,
  hash,
  id,
  longText,
  nextCursor,
  page,
  timestamp,
} from "./fields.ts";
import { limits } from "./limits.ts";
import { operation } from "./operation.ts";

const when = v.optional(v.nullable(timestamp), null);

const StepBody = v.object({
  step_id: id,
  ordinal: count,
  description: v.optional(longText, ""),
  status: v.optional(v.picklist(STEP_STATUSES), "pending"),
  tools_used: v.optional(capabilities, []),
  tool_calls: v.optional(count, 0),
  started_at: when,
  completed_at: when,
  delegation: v.optional(v.object({ receipt_hash: hash })),
});

const PlanBody = v.object({
  plan_id: v.optional(id),
  goal_id: id,
  title: longText,
  status: v.optional(v.picklist(LEDGER_STATUSES), "active"),
  steps: v.optional(
    v.pipe(
      v.array(StepBody),
      v.maxLength(limits.planSteps, `has to hold at most ${limits.planSteps} entries`),
      v.check(
        (steps) => new Set(steps.map(({ step_id }) => step_id)).size === steps.length,
        "has to name each step once",
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

export const plans = {
  putPlan: operation({
    method: "POST",
    path: "/api/v1/agents/:agentId/plans",
    summary: "Record a plan, or how far one has come: under its id it takes the older one's place.",
    section: "Records",
    auth: "bearer",
    ownerOnly: true,
    scope: "ledger:write",
    tier: "write",
    body: PlanBody,
    ok: { 200: Plan, 201: Plan },
    refusals: ["agent.not_found"],
  }),
  listPlans: operation({
    method: "GET",
    path: "/api/v1/agents/:agentId/plans",
    summary: "An agent's plans, newest first, all of them or those of a goal.",
    section: "Records",
    auth: "bearer",
    ownerOnly: true,
    scope: "task:read",
    tier: "read",
    query: v.object({ goal_id: v.optional(id), ...page }),
    ok: { 200: v.object({ plans: v.array(Plan), next_cursor: nextCursor }) },
    refusals: ["request.invalid"],
  }),
  getPlan: operation({
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
