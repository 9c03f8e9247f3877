import {
  refuse,
  type Answer,
  type BodyOf,
  type Operations,
  type Plan,
  type QueryOf,
} from "@agent/wire";
import { toDollars, toMicro } from "@agent/budget";
import { findAgent } from "../agents/store.ts";
import { createPageAnswer, textDescending } from "../http/paging/page.ts";
import { newId } from "../runtime.ts";
import type { Reader } from "../storage/storage.ts";
import type { PlanRow } from "../storage/tables/records.ts";
import { allocateSteps, type AllocateDependencies } from "./allocate-steps.ts";
import { findPlan, listPlansByAgent, savePlan } from "./plan-store.ts";

/** Records a plan; it replaces the whole plan that is stored under the same id. */
export async function putPlan(
  services: AllocateDependencies,
  agent_id: string,
  body: BodyOf<Operations["putPlan"]>,
): Promise<Answer<Operations["putPlan"]>> {
  const { storage, runtime } = services;
  const now = runtime.now();
  const sequence = newId(runtime);
  const { plan_id = sequence, goal_id, title, status, steps, max_budget } = body;
  const allocation = await allocateSteps(services, agent_id, body);
  return storage.transaction(async (tx) => {
    if ((await findAgent(tx, agent_id)) === undefined) return refuse("agent.not_found");
    const known = await findPlan(tx, { agent_id, plan_id });
    const row: PlanRow = {
      agent_id,
      plan_id,
      sequence: known?.sequence ?? sequence,
      goal_id,
      title,
      status,
      steps: JSON.stringify(steps),
      max_budget: max_budget === undefined ? null : toMicro(max_budget),
      created_at: known?.created_at ?? now,
      updated_at: now,
    };
    await savePlan(tx, row, known === undefined);
    const body = { ...toPlan(row), ...(allocation !== undefined && { allocation }) };
    return known === undefined ? { status: 201 as const, body } : { status: 200 as const, body };
  });
}

export async function getPlan(
  read: Reader,
  { agentId, planId }: { agentId: string; planId: string },
): Promise<Answer<Operations["getPlan"]>> {
  const row = await findPlan(read, { agent_id: agentId, plan_id: planId });
  return row === undefined ? refuse("plan.not_found") : { status: 200, body: toPlan(row) };
}

/** Lists plans, newest first. */
export async function listPlans(
  read: Reader,
  agent_id: string,
  { goal_id = "", ...query }: QueryOf<Operations["listPlans"]>,
): Promise<Answer<Operations["listPlans"]>> {
  return createPageAnswer(query, {
    order: textDescending,
    find: (before, limit) => listPlansByAgent(read, { agent_id, goal_id, before, limit }),
    keyOf: ({ sequence }) => sequence,
    show: (rows) => ({ plans: rows.map(toPlan) }),
  });
}

export function toPlan({ steps, max_budget, sequence: _order, ...row }: PlanRow): Plan {
  const budget = max_budget === null ? {} : { max_budget: toDollars(max_budget) };
  return { ...row, ...budget, steps: JSON.parse(steps) as Plan["steps"] };
}
