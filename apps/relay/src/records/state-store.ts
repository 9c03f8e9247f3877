import { param, compile, sql } from "../storage/queries/compiled-query.ts";
import { jsonMember } from "../storage/queries/fragments.ts";
import type { Reader } from "../storage/storage.ts";
import type { PlanRow } from "../storage/tables/records.ts";
import type { TaskRow } from "../storage/tables/tasks.ts";

/** A goal in the relay's records; a member is null when they do not hold it. */
export interface GoalRow {
  readonly goal_id: string;
  readonly ledger_status: PlanRow["status"] | null;
  readonly plan_status: PlanRow["status"] | null;
  readonly plans: number;
  readonly task_status: TaskRow["status"] | null;
}

interface GoalQuery {
  readonly agent_id: string;
  readonly after: string;
  readonly limit: number;
}

/** Each source returns at most one page, so that the union stays small. */
const goalsById = compile<GoalQuery>()(
  sql<GoalRow>`
    select goal_id,
      (select ${jsonMember("body", "status")} from ledgers
        where agent_id = ${param("agent_id")} and ledgers.goal_id = goal.goal_id) as ledger_status,
      (select status from plans
        where agent_id = ${param("agent_id")} and plans.goal_id = goal.goal_id
        order by sequence desc limit 1) as plan_status,
      (select count(*) from plans
        where agent_id = ${param("agent_id")} and plans.goal_id = goal.goal_id) as plans,
      (select status from tasks
        where task_id = goal.goal_id
          and coalesce(assigned_to, agent_id) = ${param("agent_id")}) as task_status
    from (
      select * from (select goal_id from ledgers
        where agent_id = ${param("agent_id")} and goal_id > ${param("after")}
        order by goal_id limit ${param("limit")}) as of_ledgers
      union
      select * from (select distinct goal_id from plans
        where agent_id = ${param("agent_id")} and goal_id > ${param("after")}
        order by goal_id limit ${param("limit")}) as of_plans
      union
      select * from (select task_id from tasks
        where agent_id = ${param("agent_id")} and assigned_to is null and task_id > ${param("after")}
        order by task_id limit ${param("limit")}) as of_targets
      union
      select * from (select task_id from tasks
        where assigned_to = ${param("agent_id")} and task_id > ${param("after")}
        order by task_id limit ${param("limit")}) as of_executors
    ) as goal
    order by goal_id limit ${param("limit")}`,
);

/** Lists goals with a ledger, a plan or a task of the agent, by id. */
export function listGoalRows(read: Reader, query: GoalQuery): Promise<GoalRow[]> {
  return read.all(goalsById, query);
}

export interface AgentCounts {
  readonly open_tasks: number;
  readonly submitted_open_tasks: number;
  readonly devices: number;
  readonly ledgers: number;
  readonly events: number;
}

const agentCounts = compile<{ agent_id: string }>()(
  sql<AgentCounts>`
    select
      (select count(*) from tasks
        where coalesce(assigned_to, agent_id) = ${param("agent_id")}
          and status in ('pending', 'claimed')) as open_tasks,
      (select coalesce(max(live), 0) from task_counters
        where scope = 'by:' || ${param("agent_id")}) as submitted_open_tasks,
      (select count(*) from devices
        where agent_id = ${param("agent_id")} and revoked_at is null) as devices,
      (select count(*) from ledgers where agent_id = ${param("agent_id")}) as ledgers,
      (select coalesce(max(clock), 0) from agent_events
        where agent_id = ${param("agent_id")}) as events`,
);

export async function findAgentCounts(
  read: Reader,
  agent_id: string,
): Promise<AgentCounts | undefined> {
  return read.get(agentCounts, { agent_id });
}
