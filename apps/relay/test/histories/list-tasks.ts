import type { TaskRow } from "../../src/storage/tables/tasks.ts";
import type { HistoryRelay } from "./history-relay.ts";

/** Lists the stored tasks for which a condition is true. */
export function listTasks(relay: HistoryRelay, condition: string): Promise<TaskRow[]> {
  return relay.list<TaskRow>(`select * from tasks where ${condition} order by task_id`);
}

export const getTaskPath = ({ agent_id, task_id }: Pick<TaskRow, "agent_id" | "task_id">) =>
  `/agent/${agent_id}/task/${task_id}`;
