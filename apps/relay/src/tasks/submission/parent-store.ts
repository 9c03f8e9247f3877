import { compile, param, params, queryBuilder, sql } from "../../storage/queries/compiled-query.ts";
import { inRowForm } from "../../storage/queries/row-form.ts";
import type { Reader, Tx } from "../../storage/storage.ts";
import type { TaskParentRow } from "../../storage/tables/operator.ts";

const parentInsert = inRowForm(
  compile<TaskParentRow>()(
    queryBuilder.insertInto("task_parents").values(params("task_id", "parent_id")),
  ),
  {
    kind: "insert",
    table: "task_parents",
    row: ({ task_id, parent_id }) => ({ task_id, parent_id }),
  },
);

/** Stores under which task another one was submitted. */
export async function insertParent(tx: Tx, row: TaskParentRow): Promise<void> {
  await tx.run(parentInsert, row);
}

const parentOfTask = compile<{ task_id: string }>()(
  queryBuilder
    .selectFrom("task_parents")
    .select("parent_id")
    .where("task_id", "=", param("task_id")),
);

export async function findParent(read: Reader, task_id: string): Promise<string | undefined> {
  return (await read.get(parentOfTask, { task_id }))?.parent_id;
}

const childrenOfTask = compile<{ parent_id: string; limit: number }>()(
  queryBuilder
    .selectFrom("task_parents")
    .select("task_id")
    .where("parent_id", "=", param("parent_id"))
    .orderBy("task_id")
    .limit(param("limit")),
);

/** Lists the tasks that were submitted under one, oldest first. */
export async function listChildren(
  read: Reader,
  parent: { parent_id: string; limit: number },
): Promise<string[]> {
  return (await read.all(childrenOfTask, parent)).map(({ task_id }) => task_id);
}

const parentPurge = compile<{ before: string; limit: number }>()(
  sql<never>`
    delete from task_parents where task_id in (
      select task_id from task_parents where task_id < ${param("before")} limit ${param("limit")})`,
);

/** Deletes the parents of tasks with a smaller id, which are older. */
export function purgeParents(tx: Tx, old: { before: string; limit: number }): Promise<number> {
  return tx.run(parentPurge, old);
}
