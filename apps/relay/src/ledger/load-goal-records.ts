import type { DelegatedTask, GoalRecord, GoalRecords, Ledger, SignedReceipt } from "@agent/ledger";
import { flattenChain, type ExecutionReceipt } from "@agent/receipts";
import type { TaskStatus } from "@agent/wire";
import { loadRecordsOfGoal } from "../records/load-records-of-goal.ts";
import type { Room } from "../records/room.ts";
import type { Reader } from "../storage/storage.ts";
import { findReceipt } from "../tasks/receipts/receipt-store.ts";
import { findTask } from "../tasks/store.ts";
import { executorOf, isExpired } from "../tasks/task.ts";
import { parseArchivedReceipt } from "../tasks/receipts/parse-archived-receipt.ts";

/**
 * Loads the stored records of an agent's goal: the task with its id while that is stored, its receipt, and,
 * while there is room, the agent's own records (plans, events and the tasks of steps) and the tasks of this
 * relay whose receipts are nested in the receipt.
 */
export async function loadGoalRecords(
  read: Reader,
  { agentId, goalId }: Pick<GoalRecords, "agentId" | "goalId">,
  { now, room }: { readonly now: number; readonly room: Room },
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
  const recorded = await loadRecordsOfGoal(read, { agent_id: agentId, goal_id: goalId }, room);
  const carried = receipt === undefined ? [] : listNestedTasks(receipt);
  const taskIds = [...new Set([...carried, ...recorded.taskIds])];
  const tasks = await loadDelegatedTasks(read, { agentId, taskIds, room });
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

interface DelegatedQuery {
  readonly agentId: string;
  readonly taskIds: readonly string[];
  readonly room: Room;
}

/**
 * Loads only tasks that the agent submitted at this relay, with the summaries of their receipts: one after
 * the other, because a receipt can have a megabyte.
 */
async function loadDelegatedTasks(
  read: Reader,
  { agentId, taskIds, room }: DelegatedQuery,
): Promise<DelegatedTask[]> {
  const tasks: DelegatedTask[] = [];
  for (const id of taskIds) {
    const task = await findTask(read, id);
    if (task?.submitted_by !== agentId) continue;
    const row = await findReceipt(read, id);
    const receipt = row && pickSummarized(parseArchivedReceipt(row.body));
    const { task_id, step_id, submitted_at } = task;
    const delegated = {
      task_id,
      step_id,
      submitted_at,
      receipt,
      receipt_hash: row?.receipt_hash,
    };
    if (!room.reserve(JSON.stringify(delegated))) return tasks;
    tasks.push(delegated);
  }
  return tasks;
}

/** Leaves out the result and nested receipts, which a summary does not show. */
function pickSummarized(receipt: ExecutionReceipt): SignedReceipt {
  const { task_id, agent_id, device_id, status, tools_used, signature } = receipt;
  return { task_id, agent_id, device_id, status, tools_used, signature };
}
