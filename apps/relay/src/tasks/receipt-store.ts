import { db, p, prepare } from "../storage/prepared.ts";
import type { Reader, Tx } from "../storage/storage.ts";
import type { ReceiptRow, TaskRow } from "../storage/tables/tasks.ts";

const receiptByTask = prepare<{ task_id: string }>()(
  db.selectFrom("receipts").selectAll().where("task_id", "=", p("task_id")),
);

export function findReceipt(read: Reader, task_id: string): Promise<ReceiptRow | undefined> {
  return read.get(receiptByTask, { task_id });
}

const addReceipt = prepare<ReceiptRow>()(
  db.insertInto("receipts").values({
    task_id: p("task_id"),
    receipt_hash: p("receipt_hash"),
    agent_id: p("agent_id"),
    body: p("body"),
    received_at: p("received_at"),
  }),
);

export async function archiveReceipt(tx: Tx, receipt: ReceiptRow): Promise<void> {
  await tx.run(addReceipt, receipt);
}

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
