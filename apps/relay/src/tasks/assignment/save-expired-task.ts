import type { Tx } from "../../storage/storage.ts";
import type { StoredTaskRow } from "../../storage/tables/tasks.ts";
import { toTask } from "../task-view.ts";
import { insertExpiredTask } from "./expired-task-store.ts";

/** Keeps an expired task for the operator's lists, without its prompt: its own row is deleted. */
export async function saveExpiredTask(tx: Tx, row: StoredTaskRow, now: number): Promise<void> {
  const { delegation_token: _, ...shown } = toTask(row);
  const { task_id, agent_id, submitted_by } = row;
  const { attempts, attempt } = row;
  const task = JSON.stringify({ ...shown, prompt: "", status: "expired", attempts, attempt });
  await insertExpiredTask(tx, { task_id, agent_id, submitted_by, expired_at: now, task });
}
