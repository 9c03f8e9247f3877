import type { DelegatedTask, GoalRecord, GoalRecords, Ledger } from "@agent/ledger";
import { flattenChain, type ExecutionReceipt } from "@agent/receipts";
import type { TaskStatus } from "@agent/wire";
import { loadRecordsOfGoal } from "../records/load-records-of-goal.ts";
import type { Reader } from "../storage/storage.ts";
import type { ReceiptRow } from "../storage/tables/tasks.ts";
import { findReceipt } from "../tasks/receipts/receipt-store.ts";
import { findTask } from "../tasks/store.ts";
import { executorOf, isExpired } from "../tasks/task.ts";

/**
 * What the relay has stored about a goal of an agent: the task whose id it is, as long as it is
 * kept, its receipt, the tasks of this relay whose receipts that one carries, and what the agent
 * recorded of it: plans, the tasks of their steps, events.
 */
export async function loadGoalRecords(
  read: Reader,
  { agentId, goalId }: Pick<GoalRecords, "agentId" | "goalId">,
  now: number,
): Promise<GoalRecords> {
  const archived = await findReceipt(read, goalId);
  const row = archived?.agent_id === agentId ? archived : undefined;
  const receipt = row && parseReceiptRow(row);
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

/** What a task's state means for the goal that it is. */
export const ledgerStatusByTaskStatus: { readonly [S in TaskStatus]: Ledger["status"] } = {
  pending: "active",
  claimed: "active",
  completed: "completed",
  failed: "failed",
  denied: "failed",
  cancelled: "failed",
};

/** The tasks of this relay whose receipts a receipt carries. */
function listNestedTasks(receipt: ExecutionReceipt): string[] {
  const direct = flattenChain(receipt).links.filter(({ parent }) => parent === receipt);
  return direct.flatMap(({ receipt: { relay_task_id } }) => relay_task_id ?? []);
}

/** Only what the relay knows of itself: tasks that the agent submitted here, with their receipts. */
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
        { task_id, step_id, submitted_at, receipt: row && parseReceiptRow(row), receipt_hash },
      ];
    }),
  );
  return found.flat();
}

/** Only verified receipts are archived. */
function parseReceiptRow({ body }: ReceiptRow): ExecutionReceipt {
  return JSON.parse(body) as ExecutionReceipt;
}
