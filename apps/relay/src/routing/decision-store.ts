import { queryBuilder, param, params, compile, sql } from "../storage/queries/compiled-query.ts";
import { inRowForm } from "../storage/queries/row-form.ts";
import type { Reader, Tx } from "../storage/storage.ts";
import type { RoutingDecisionRow } from "../storage/tables/routing.ts";

const addDecision = inRowForm(
  compile<RoutingDecisionRow>()(
    queryBuilder.insertInto("routing_decisions").values(params("task_id", "record")),
  ),
  {
    kind: "insert",
    table: "routing_decisions",
    row: ({ task_id, record }) => ({ task_id, record }),
  },
);

export async function insertDecision(tx: Tx, decision: RoutingDecisionRow): Promise<void> {
  await tx.run(addDecision, decision);
}

const selectByTask = compile<{ task_id: string }>()(
  queryBuilder.selectFrom("routing_decisions").selectAll().where("task_id", "=", param("task_id")),
);

export function findDecision(
  read: Reader,
  task_id: string,
): Promise<RoutingDecisionRow | undefined> {
  return read.get(selectByTask, { task_id });
}

const deleteOrphaned = compile<{ before: string; limit: number }>()(
  sql<never>`
    delete from routing_decisions where task_id in (
      select task_id from routing_decisions
      where task_id < ${param("before")}
        and not exists (select 1 from tasks where tasks.task_id = routing_decisions.task_id)
      limit ${param("limit")})`,
);

/** Deletes decisions on tasks that were purged; ids grow with time. */
export function purgeDecisions(tx: Tx, old: { before: string; limit: number }): Promise<number> {
  return tx.run(deleteOrphaned, old);
}
