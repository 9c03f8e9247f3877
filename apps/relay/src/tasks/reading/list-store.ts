import { compile, param, queryBuilder } from "../../storage/queries/compiled-query.ts";
import { matchesIfGiven } from "../../storage/queries/matches-if-given.ts";
import type { Reader } from "../../storage/storage.ts";
import { TASK_COLUMNS, type TaskRow } from "../../storage/tables/tasks.ts";

/** Selects the tasks of a list: addressed or assigned to an agent, or submitted by it. */
export interface TaskQuery {
  readonly agent_id: string;
  /** An empty text matches any status. */
  readonly status: string;
  readonly before: string;
  readonly limit: number;
}

const matchesStatus = matchesIfGiven("status");

const tasksByAgent = compile<TaskQuery>()(
  queryBuilder
    .selectFrom("tasks")
    .select(TASK_COLUMNS)
    .where((where) =>
      where.or([
        where("agent_id", "=", param("agent_id")),
        where("assigned_to", "=", param("agent_id")),
      ]),
    )
    .where("task_id", "<", param("before"))
    .where(matchesStatus)
    .orderBy("task_id", "desc")
    .limit(param("limit")),
);

const tasksBySubmitter = compile<TaskQuery>()(
  queryBuilder
    .selectFrom("tasks")
    .select(TASK_COLUMNS)
    .where("submitted_by", "=", param("agent_id"))
    .where("task_id", "<", param("before"))
    .where(matchesStatus)
    .orderBy("task_id", "desc")
    .limit(param("limit")),
);

export function listTasksForAgent(read: Reader, query: TaskQuery): Promise<TaskRow[]> {
  return read.all(tasksByAgent, query);
}

export function listTasksBySubmitter(read: Reader, query: TaskQuery): Promise<TaskRow[]> {
  return read.all(tasksBySubmitter, query);
}
