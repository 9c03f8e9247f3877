import {
  queryBuilder,
  param,
  params,
  compile,
  sql,
  either,
} from "../storage/queries/compiled-query.ts";
import type { Reader, Tx } from "../storage/storage.ts";
import type { PlanRow } from "../storage/tables/records.ts";

type PlanKey = Pick<PlanRow, "agent_id" | "plan_id">;

const planByKey = compile<PlanKey>()(
  queryBuilder
    .selectFrom("plans")
    .selectAll()
    .where("agent_id", "=", param("agent_id"))
    .where("plan_id", "=", param("plan_id")),
);

export function findPlan(read: Reader, key: PlanKey): Promise<PlanRow | undefined> {
  return read.get(planByKey, key);
}

const insertPlanQuery = compile<PlanRow>()(
  queryBuilder
    .insertInto("plans")
    .values(
      params(
        "agent_id",
        "plan_id",
        "sequence",
        "goal_id",
        "title",
        "status",
        "steps",
        "max_budget",
        "created_at",
        "updated_at",
      ),
    ),
);

const updatePlanQuery = compile<PlanRow>()(
  queryBuilder
    .updateTable("plans")
    .set(params("goal_id", "title", "status", "steps", "max_budget", "updated_at"))
    .where("agent_id", "=", param("agent_id"))
    .where("plan_id", "=", param("plan_id")),
);

export async function savePlan(tx: Tx, plan: PlanRow, isNew: boolean): Promise<void> {
  await tx.run(isNew ? insertPlanQuery : updatePlanQuery, plan);
}

export interface PlanQuery {
  readonly agent_id: string;
  /** An empty text matches any goal. */
  readonly goal_id: string;
  readonly before: string;
  readonly limit: number;
}

const plansInOrder = queryBuilder
  .selectFrom("plans")
  .selectAll()
  .where("agent_id", "=", param("agent_id"))
  .where("sequence", "<", param("before"))
  .orderBy("sequence", "desc")
  .limit(param("limit"));

const newestPlans = compile<Omit<PlanQuery, "goal_id">>()(plansInOrder);
const newestPlansOfGoal = compile<PlanQuery>()(
  plansInOrder.where("goal_id", "=", param("goal_id")),
);

/** Lists plans, newest first. */
export function listPlansByAgent(read: Reader, query: PlanQuery): Promise<PlanRow[]> {
  return query.goal_id === "" ? read.all(newestPlans, query) : read.all(newestPlansOfGoal, query);
}

const stepId = either({
  sqlite: sql<string>`json_extract(step.value, '$.step_id')`,
  postgres: sql<string>`step ->> 'step_id'`,
});
const steps = either({
  sqlite: sql`json_each(plans.steps)`,
  postgres: sql`json_array_elements(to_safe_json(plans.steps))`,
});

const stepTasks = compile<{ agent_id: string; goal_id: string; limit: number }>()(
  sql<{ task_id: string }>`
    select task_id from tasks
    where submitted_by = ${param("agent_id")} and step_id is not null and step_id in (
      select ${stepId} from plans, ${steps} as step
      where plans.agent_id = ${param("agent_id")} and plans.goal_id = ${param("goal_id")})
    order by task_id limit ${param("limit")}`,
);

/** Lists tasks that an agent submitted for the steps of its plans of a goal, oldest first. */
export async function listStepTaskIds(
  read: Reader,
  query: { agent_id: string; goal_id: string; limit: number },
): Promise<string[]> {
  return (await read.all(stepTasks, query)).map(({ task_id }) => task_id);
}
