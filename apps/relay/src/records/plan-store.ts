import { db, p, prepare, sql } from "../storage/prepared.ts";
import type { Reader, Tx } from "../storage/storage.ts";
import type { PlanRow } from "../storage/tables/records.ts";

type Key = Pick<PlanRow, "agent_id" | "plan_id">;

const planByKey = prepare<Key>()(
  db
    .selectFrom("plans")
    .selectAll()
    .where("agent_id", "=", p("agent_id"))
    .where("plan_id", "=", p("plan_id")),
);

export function findPlan(read: Reader, key: Key): Promise<PlanRow | undefined> {
  return read.get(planByKey, key);
}

const addPlan = prepare<PlanRow>()(
  db.insertInto("plans").values({
    agent_id: p("agent_id"),
    plan_id: p("plan_id"),
    sequence: p("sequence"),
    goal_id: p("goal_id"),
    title: p("title"),
    status: p("status"),
    steps: p("steps"),
    max_budget: p("max_budget"),
    created_at: p("created_at"),
    updated_at: p("updated_at"),
  }),
);

const changePlan = prepare<PlanRow>()(
  db
    .updateTable("plans")
    .set({
      goal_id: p("goal_id"),
      title: p("title"),
      status: p("status"),
      steps: p("steps"),
      max_budget: p("max_budget"),
      updated_at: p("updated_at"),
    })
    .where("agent_id", "=", p("agent_id"))
    .where("plan_id", "=", p("plan_id")),
);

export async function writePlan(tx: Tx, plan: PlanRow, isNew: boolean): Promise<void> {
  await tx.run(isNew ? addPlan : changePlan, plan);
}

export interface PlanQuery {
  readonly agent_id: string;
  /** Empty: any. */
  readonly goal_id: string;
  readonly before: string;
  readonly limit: number;
}

const newest = db
  .selectFrom("plans")
  .selectAll()
  .where("agent_id", "=", p("agent_id"))
  .where("sequence", "<", p("before"))
  .orderBy("sequence", "desc")
  .limit(p("limit"));

const newestPlans = prepare<Omit<PlanQuery, "goal_id">>()(newest);
const newestOfGoal = prepare<PlanQuery>()(newest.where("goal_id", "=", p("goal_id")));

/** Newest first. */
export function plansOf(read: Reader, query: PlanQuery): Promise<PlanRow[]> {
  return query.goal_id === "" ? read.all(newestPlans, query) : read.all(newestOfGoal, query);
}

const stepTasks = prepare<{ agent_id: string; goal_id: string; limit: number }>()(
  sql<{ task_id: string }>`
    select task_id from tasks
    where submitted_by = ${p("agent_id")} and step_id is not null and step_id in (
      select json_extract(step.value, '$.step_id') from plans, json_each(plans.steps) as step
      where plans.agent_id = ${p("agent_id")} and plans.goal_id = ${p("goal_id")})
    order by task_id limit ${p("limit")}`,
);

/** Tasks that an agent submitted for the steps of its plans of a goal, oldest first. */
export async function tasksOfSteps(
  read: Reader,
  query: { agent_id: string; goal_id: string; limit: number },
): Promise<string[]> {
  return (await read.all(stepTasks, query)).map(({ task_id }) => task_id);
}
