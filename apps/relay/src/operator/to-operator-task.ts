import { toDollars } from "@agent/budget";
import { limits, type OperatorTask, type Task } from "@agent/wire";
import { calculateElapsed } from "../clock/calculate-elapsed.ts";
import type { Reader } from "../storage/storage.ts";
import type { ExpiredTaskRow } from "../storage/tables/operator.ts";
import { listNoShows } from "../tasks/assignment/no-show-store.ts";
import { parseArchivedReceipt } from "../tasks/receipts/parse-archived-receipt.ts";
import { findReceipt } from "../tasks/receipts/receipt-store.ts";
import { toTask } from "../tasks/task-view.ts";
import type { ListedTaskRow } from "./all-tasks-store.ts";

type Reason = OperatorTask["reason"];

/** Builds the operator's view of a task that has a row. */
export async function toOperatorTask(read: Reader, row: ListedTaskRow): Promise<OperatorTask> {
  const { prompt: _, ...task } = toTask(row);
  const { finished_at, submitted_at } = row;
  return {
    ...task,
    reason: await findReason(read, row),
    duration_ms: finished_at === null ? null : calculateElapsed(submitted_at, finished_at),
    ended_at: finished_at,
    settled: row.settled === null ? null : toDollars(row.settled),
  };
}

/** The view of an expired task, with the executors that it could be assigned to. */
type ExpiredTask = Task & { readonly attempts: string; readonly attempt: number };

export function parseExpiredTask({ task }: Pick<ExpiredTaskRow, "task">): ExpiredTask {
  return JSON.parse(task) as ExpiredTask;
}

/** Builds the operator's view of an expired task, whose row is deleted. */
export async function toExpiredOperatorTask(
  read: Reader,
  row: ExpiredTaskRow,
): Promise<OperatorTask> {
  const { prompt: _, attempts: _attempts, attempt: _attempt, ...task } = parseExpiredTask(row);
  const isNoShow = (await listNoShows(read, row.task_id)).length > 0;
  return {
    ...task,
    status: "expired",
    reason: isNoShow
      ? { code: "no_show", sentence: "the executor that took it did not deliver in time" }
      : { code: "expired", sentence: "no executor finished it before its deadline" },
    duration_ms: calculateElapsed(task.submitted_at, row.expired_at),
    ended_at: row.expired_at,
    settled: null,
  };
}

/** Returns why a task ended badly, in the words of its receipt. */
async function findReason(read: Reader, { task_id, status }: ListedTaskRow): Promise<Reason> {
  if (status !== "failed" && status !== "denied") return null;
  const archived = await findReceipt(read, task_id);
  const sentence =
    archived === undefined
      ? "its receipt is no longer stored"
      : parseArchivedReceipt(archived.body).result;
  return { code: status, sentence: cutText(sentence, limits.reasonCharacters) };
}

/** Cuts a text between two characters, never within a surrogate pair. */
function cutText(text: string, max: number): string {
  const cut = text.slice(0, max);
  return cut.isWellFormed() || !text.isWellFormed() ? cut : cut.slice(0, -1);
}
