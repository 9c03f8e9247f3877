import type { DelegatedTask, GoalRecord, GoalRecords, Ledger } from "@agent/ledger";
import { flattenChain, type ExecutionReceipt } from "@agent/receipts";
import type { TaskStatus } from "@agent/wire";
import type { Reader } from "../storage/storage.ts";
import type { ReceiptRow } from "../storage/tables.ts";
import { findReceipt, findTask } from "../tasks/store.ts";
import { executorOf, isGone } from "../tasks/view.ts";

/**
 * What the relay has stored about a goal of an agent: the task whose id it is, as long as it is
 * kept, its receipt, and the tasks of this relay whose receipts that one carries.
 */
export async function goalRecords(
  read: Reader,
  { agentId, goalId }: Pick<GoalRecords, "agentId" | "goalId">,
  now: number,
): Promise<GoalRecords> {
  const archived = await findReceipt(read, goalId);
  const row = archived?.agent_id === agentId ? archived : undefined;
  const receipt = row && receiptIn(row);
  const task = await findTask(read, goalId);
  const isIts = task !== undefined && executorOf(task) === agentId && !isGone(task, now);
  const goal: GoalRecord = isIts
    ? {
        started_at: task.submitted_at,
        completed_at: task.finished_at,
        status: ledgerStatus[task.status],
      }
    : {
        started_at: receipt?.submitted_at,
        completed_at: row?.received_at,
        status: receipt && ledgerStatus[receipt.status],
      };
  const tasks = receipt === undefined ? [] : await delegatedTasks(read, agentId, receipt);
  return { agentId, goalId, goal, plans: [], tasks, events: [] };
}

const ledgerStatus: { readonly [S in TaskStatus]: Ledger["status"] } = {
  pending: "active",
  claimed: "active",
  completed: "completed",
  failed: "failed",
  denied: "failed",
  cancelled: "failed",
};

/** Only what the relay knows of itself: tasks that the agent submitted here, with their receipts. */
async function delegatedTasks(
  read: Reader,
  agentId: string,
  receipt: ExecutionReceipt,
): Promise<DelegatedTask[]> {
  const direct = flattenChain(receipt).links.filter(({ parent }) => parent === receipt);
  const ids = new Set(direct.flatMap(({ receipt: { relay_task_id } }) => relay_task_id ?? []));
  const found = await Promise.all(
    [...ids].map(async (id) => {
      const [task, row] = await Promise.all([findTask(read, id), findReceipt(read, id)]);
      if (task?.submitted_by !== agentId) return [];
      const { task_id, step_id, submitted_at } = task;
      return [{ task_id, step_id, submitted_at, receipt: row && receiptIn(row) }];
    }),
  );
  return found.flat();
}

/** Only verified receipts are archived. */
function receiptIn({ body }: ReceiptRow): ExecutionReceipt {
  return JSON.parse(body) as ExecutionReceipt;
}
