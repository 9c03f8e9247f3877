import { db, p, prepare } from "../storage/prepared.ts";
import type { Reader } from "../storage/storage.ts";
import type { ReceiptRow, TaskRow } from "../storage/tables/tasks.ts";

/** A receipt without its text, which can be long; no status once its task is forgotten. */
export type ArchiveRow = Pick<ReceiptRow, "task_id" | "receipt_hash" | "received_at"> & {
  readonly status: TaskRow["status"] | null;
};

const receiptsByAgent = prepare<{ agent_id: string; before: string; limit: number }>()(
  db
    .selectFrom("receipts")
    .leftJoin("tasks", "tasks.task_id", "receipts.task_id")
    .select(["receipts.task_id", "receipts.receipt_hash", "receipts.received_at", "tasks.status"])
    .where("receipts.agent_id", "=", p("agent_id"))
    .where("receipts.task_id", "<", p("before"))
    .orderBy("receipts.task_id", "desc")
    .limit(p("limit")),
);

/** Newest task first; `before` is a task id. */
export function receiptsOf(
  read: Reader,
  query: { agent_id: string; before: string; limit: number },
): Promise<ArchiveRow[]> {
  return read.all(receiptsByAgent, query);
}
