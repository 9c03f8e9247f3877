import { queryBuilder, param, params, compile, sql } from "../../storage/queries/compiled-query.ts";
import { jsonTexts } from "../../storage/queries/fragments.ts";
import { inRowForm, pickColumns } from "../../storage/queries/row-form.ts";
import type { Reader, Tx } from "../../storage/storage.ts";
import { RECEIPT_COLUMNS, type ReceiptRow, type TaskRow } from "../../storage/tables/tasks.ts";

const receiptByTask = compile<{ task_id: string }>()(
  queryBuilder
    .selectFrom("receipts")
    .select(RECEIPT_COLUMNS)
    .where("task_id", "=", param("task_id")),
);

export function findReceipt(read: Reader, task_id: string): Promise<ReceiptRow | undefined> {
  return read.get(receiptByTask, { task_id });
}

type NewReceipt = Omit<ReceiptRow, "erased_at">;

const ARCHIVED_COLUMNS = ["task_id", "receipt_hash", "agent_id", "body", "received_at"] as const;

const addReceipt = inRowForm(
  compile<NewReceipt>()(queryBuilder.insertInto("receipts").values(params(...ARCHIVED_COLUMNS))),
  {
    kind: "insert",
    table: "receipts",
    row: (receipt) => pickColumns(receipt, ARCHIVED_COLUMNS),
  },
);

const addNested = compile<{ task_id: string; signatures: string }>()(
  sql<never>`
    insert into nested_receipts
    select value, ${param("task_id")} from ${jsonTexts(param("signatures"))} as signatures
    where true on conflict do nothing`,
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

const selectContaining = compile<{ signature: string }>()(
  queryBuilder
    .selectFrom("nested_receipts")
    .innerJoin("receipts", "receipts.task_id", "nested_receipts.task_id")
    .leftJoin("tasks", "tasks.task_id", "receipts.task_id")
    .select(RECEIPT_COLUMNS.map((name) => `receipts.${name}` as const))
    .select("tasks.submitted_by")
    .where("nested_receipts.signature", "=", param("signature")),
);

/**
 * Lists archived receipts that carry the one with this signature; a purged task has no submitter.
 */
export function listReceiptsContaining(
  read: Reader,
  signature: string,
): Promise<(ReceiptRow & Pick<TaskRow, "submitted_by">)[]> {
  return read.all(selectContaining, { signature });
}

const replaceBody = compile<{ task_id: string; body: string; now: number }>()(
  queryBuilder
    .updateTable("receipts")
    .set({ body: param("body"), erased_at: sql`coalesce(erased_at, ${param("now")})` })
    .where("task_id", "=", param("task_id")),
);

/** Replaces a receipt's body by one without texts; its hash stays that of the signed one. */
export async function replaceReceiptBody(
  tx: Tx,
  receipt: { task_id: string; body: string; now: number },
): Promise<void> {
  await tx.run(replaceBody, receipt);
}

/** A receipt without its text, which can be long; the status is null once its task is purged. */
export type ArchiveRow = Pick<ReceiptRow, "task_id" | "receipt_hash" | "received_at"> & {
  readonly status: TaskRow["status"] | null;
};

const receiptsByAgent = compile<{ agent_id: string; before: string; limit: number }>()(
  queryBuilder
    .selectFrom("receipts")
    .leftJoin("tasks", "tasks.task_id", "receipts.task_id")
    .select(["receipts.task_id", "receipts.receipt_hash", "receipts.received_at", "tasks.status"])
    .where("receipts.agent_id", "=", param("agent_id"))
    .where("receipts.task_id", "<", param("before"))
    .orderBy("receipts.task_id", "desc")
    .limit(param("limit")),
);

/** Lists receipts, newest task first; `before` is a task id. */
export function listReceiptsOfAgent(
  read: Reader,
  query: { agent_id: string; before: string; limit: number },
): Promise<ArchiveRow[]> {
  return read.all(receiptsByAgent, query);
}
