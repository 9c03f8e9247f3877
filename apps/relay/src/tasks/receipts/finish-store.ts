import type { EndedBy } from "@agent/federation-protocol/forwarding";
import { peerClaimRef } from "../../federation/peer-ref.ts";
import { compile, param, params, queryBuilder, sql } from "../../storage/queries/compiled-query.ts";
import { inRowForm, type RowValues } from "../../storage/queries/row-form.ts";
import type { Tx } from "../../storage/storage.ts";
import { KEYED_TABLES } from "../../storage/tables/keyed-tables.ts";
import type { TaskRow } from "../../storage/tables/tasks.ts";
import { taskExecutor, taskIsOpen } from "../store.ts";

interface TaskEnd extends Pick<TaskRow, "task_id" | "status" | "receipt_hash" | "attempt"> {
  readonly now: number;
  readonly executor: string;
}

const finishUpdate = queryBuilder
  .updateTable("tasks")
  .set({ ...params("status", "receipt_hash"), finished_at: param("now") })
  .where("task_id", "=", param("task_id"))
  .where(taskIsOpen)
  .where("expires_at", ">", param("now"))
  .where("attempt", "=", param("attempt"))
  .where(taskExecutor, "=", param("executor"));

const finishByReceipt = inRowForm(
  compile<TaskEnd & { key_registered: 0 | 1 }>()(
    finishUpdate
      .where("via_peer", "is", null)
      .where(sql<boolean>`(locked = 0 or cast(${param("key_registered")} as bigint) = 1)`),
  ),
  {
    kind: "update",
    table: KEYED_TABLES.tasks,
    change: (row, { key_registered, ...end }) =>
      row["via_peer"] === null && (row["locked"] === 0 || key_registered === 1)
        ? finishRow(row, end)
        : undefined,
  },
);

const finishByPeer = inRowForm(
  compile<TaskEnd & { claimed_by: string }>()(
    finishUpdate.where("claimed_by", "=", param("claimed_by")),
  ),
  {
    kind: "update",
    table: KEYED_TABLES.tasks,
    change: (row, { claimed_by, ...end }) =>
      row["claimed_by"] === claimed_by ? finishRow(row, end) : undefined,
  },
);

/** Does what `finishUpdate` does to a row. */
function finishRow(row: RowValues, end: Omit<TaskEnd, "task_id">): RowValues | undefined {
  const { status, receipt_hash, attempt, executor, now } = end;
  const isOpen = row["status"] === "pending" || row["status"] === "claimed";
  const isExecutor = (row["assigned_to"] ?? row["agent_id"]) === executor;
  return isOpen && Number(row["expires_at"]) > now && row["attempt"] === attempt && isExecutor
    ? { status, receipt_hash, finished_at: now }
    : undefined;
}

/**
 * Ends an open task; false if it is no longer open, no longer that executor's, not at the attempt (and so
 * the price) that its caller has read, or may not be ended in this way (`canEndTask`). This condition alone
 * prevents a second settlement.
 */
export async function finishTask(
  tx: Tx,
  task: Pick<TaskRow, "task_id" | "attempt">,
  { endedBy, ...end }: Omit<TaskEnd, "task_id" | "attempt"> & { readonly endedBy: EndedBy },
): Promise<boolean> {
  const { task_id, attempt } = task;
  const ending = { task_id, attempt, ...end };
  if (endedBy.kind === "peer") {
    return (
      (await tx.run(finishByPeer, { ...ending, claimed_by: peerClaimRef(endedBy.relayId) })) === 1
    );
  }
  const key_registered = endedBy.isKeyRegistered ? 1 : 0;
  return (await tx.run(finishByReceipt, { ...ending, key_registered })) === 1;
}
