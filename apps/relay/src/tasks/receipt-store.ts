import { db, p, prepare, sql } from "../storage/prepared.ts";
import type { Reader, Tx } from "../storage/storage.ts";
import type { ReceiptRow, TaskRow } from "../storage/tables/tasks.ts";

const receiptByTask = prepare<{ task_id: string }>()(
  db.selectFrom("receipts").selectAll().where("task_id", "=", p("task_id")),
);

export function findReceipt(read: Reader, task_id: string): Promise<ReceiptRow | undefined> {
  return read.get(receiptByTask, { task_id });
}

type NewReceipt = Omit<ReceiptRow, "erased_at">;

const addReceipt = prepare<NewReceipt>()(
  db.insertInto("receipts").values({
    task_id: p("task_id"),
    receipt_hash: p("receipt_hash"),
    agent_id: p("agent_id"),
    body: p("body"),
    received_at: p("received_at"),
  }),
);

const addNested = prepare<{ task_id: string; signatures: string }>()(
  sql<never>`
    insert or ignore into nested_receipts
    select value, ${p("task_id")} from json_each(${p("signatures")})`,
);

/** Archives a receipt; `nested` are the signatures of the receipts that its text carries. */
export async function archiveReceipt(
  tx: Tx,
  receipt: NewReceipt,
  nested: readonly string[],
): Promise<void> {
  await tx.run(addReceipt, receipt);
  if (nested.length === 0) return;
  await tx.run(addNested, { task_id: receipt.task_id, signatures: JSON.stringify(nested) });
}

const carrying = prepare<{ signature: string }>()(
  db
    .selectFrom("nested_receipts")
    .innerJoin("receipts", "receipts.task_id", "nested_receipts.task_id")
    .leftJoin("tasks", "tasks.task_id", "receipts.task_id")
    .selectAll("receipts")
    .select("tasks.submitted_by")
    .where("nested_receipts.signature", "=", p("signature")),
);

/** Archived receipts that carry the one with this signature; no submitter once a task is forgotten. */
export function receiptsCarrying(
  read: Reader,
  signature: string,
): Promise<(ReceiptRow & Pick<TaskRow, "submitted_by">)[]> {
  return read.all(carrying, { signature });
}

const replaceBody = prepare<{ task_id: string; body: string; now: number }>()(
  db
    .updateTable("receipts")
    .set({ body: p("body"), erased_at: sql`coalesce(erased_at, ${p("now")})` })
    .where("task_id", "=", p("task_id")),
);

/** Replaces a receipt's text by one without texts; its hash stays that of the signed one. */
export async function replaceReceiptBody(
  tx: Tx,
  receipt: { task_id: string; body: string; now: number },
): Promise<void> {
  await tx.run(replaceBody, receipt);
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
