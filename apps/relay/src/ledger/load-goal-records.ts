import type { DelegatedTask, GoalRecord, GoalRecords, Ledger } from "@agent/ledger";
import { flattenChain, type ExecutionReceipt } from "@agent/receipts";
import type { TaskStatus } from "@agent/wire";
import { loadRecordsOfGoal } from "../records/load-records-of-goal.ts";
import type { Reader } from "../storage/storage.ts";
import { findReceipt } from "../tasks/receipts/receipt-store.ts";
import { findTask } from "../tasks/store.ts";
import { executorOf, isExpired } from "../tasks/task.ts";
import { parseArchivedReceipt } from "../tasks/receipts/parse-archived-receipt.ts";

/**
 * Loads all stored records of an agent's goal: the task with its id while that is stored, its receipt, the
 * tasks of this relay whose receipts are nested in it, and the agent's own records: plans, the tasks of
 * their steps, and events.
 */
export async function loadGoalRecords(
  read: Reader,
  { agentId, goalId }: Pick<GoalRecords, "agentId" | "goalId">,
  now: number,
): Promise<GoalRecords> {
  const archived = await findReceipt(read, goalId);
  const row = archived?.agent_id === agentId ? archived : undefined;
  const receipt = row && parseArchivedReceipt(row.body);
  const task = await findTask(read, goalId);
  const isExecutedByAgent =
    task !== undefined && executorOf(task) === agentId && !isExpired(task, now);
  const goal: GoalRecord = isExecutedByAgent
    ? {
        started_at: task.submitted_at,
        completed_at: task.finished_at,
        status: ledgerStatusByTaskStatus[task.status],
      }
    : {
        started_at: receipt?.submitted_at,
        completed_at: row?.received_at,
        status: receipt && ledgerStatusByTaskStatus[receipt.status],
      };
  const recorded = await loadRecordsOfGoal(read, { agent_id: agentId, goal_id: goalId });
  const carried = receipt === undefined ? [] : listNestedTasks(receipt);
  const tasks = await loadDelegatedTasks(read, agentId, [...carried, ...recorded.taskIds]);
  return { agentId, goalId, goal, plans: recorded.plans, tasks, events: recorded.events };
}

/** The status of a goal by the status of the task whose id it is. */
export const ledgerStatusByTaskStatus: { readonly [S in TaskStatus]: Ledger["status"] } = {
  pending: "active",
  claimed: "active",
  completed: "completed",
  failed: "failed",
  denied: "failed",
  cancelled: "failed",
};

/** Lists the tasks of this relay whose receipts a receipt carries. */
function listNestedTasks(receipt: ExecutionReceipt): string[] {
  const direct = flattenChain(receipt).links.filter(({ parent }) => parent === receipt);
  return direct.flatMap(({ receipt: { relay_task_id } }) => relay_task_id ?? []);
}

/** Loads only tasks that the agent submitted at this relay, with their receipts. */
async function loadDelegatedTasks(
  read: Reader,
  agentId: string,
  ids: readonly string[],
): Promise<DelegatedTask[]> {
  const found = await Promise.all(
    [...new Set(ids)].map(async (id) => {
      const [task, row] = await Promise.all([findTask(read, id), findReceipt(read, id)]);
      if (task?.submitted_by !== agentId) return [];
      const { task_id, step_id, submitted_at } = task;
      const receipt_hash = row?.receipt_hash;
      return [
        {
          task_id,
          step_id,
          submitted_at,
          receipt: row && parseArchivedReceipt(row.body),
          receipt_hash,
        },
      ];
    }),
  );
  return found.flat();
}
