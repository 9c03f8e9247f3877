import { compile, param, params, queryBuilder, sql } from "../storage/queries/compiled-query.ts";
import type { Reader, Tx } from "../storage/storage.ts";
import type { InspectionRow } from "../storage/tables/inspections.ts";

const inspectionByTask = compile<{ task_id: string }>()(
  queryBuilder.selectFrom("inspections").selectAll().where("task_id", "=", param("task_id")),
);

export function findInspection(read: Reader, task_id: string): Promise<InspectionRow | undefined> {
  return read.get(inspectionByTask, { task_id });
}

const insertQuery = compile<InspectionRow>()(
  queryBuilder
    .insertInto("inspections")
    .values(
      params(
        "task_id",
        "agent_id",
        "dispute_id",
        "state",
        "terms",
        "submitter_id",
        "executor_id",
        "arbiter_id",
        "receipt_hash",
        "ledger_hash",
        "due",
        "due_status",
        "fee",
        "bond",
        "offer",
        "deadline",
        "moved",
        "verdicts",
        "decision",
        "outcome",
        "share",
        "lost_by",
        "postings",
        "counted",
        "begun_at",
        "contested_at",
        "passed_by",
        "passed_at",
        "closed_at",
      ),
    ),
);

export async function insertInspection(tx: Tx, row: InspectionRow): Promise<void> {
  await tx.run(insertQuery, row);
}

const updateQuery = compile<InspectionRow & { old_state: string; old_deadline: number | null }>()(
  queryBuilder
    .updateTable("inspections")
    .set(
      params(
        "state",
        "arbiter_id",
        "bond",
        "offer",
        "deadline",
        "moved",
        "verdicts",
        "decision",
        "outcome",
        "share",
        "lost_by",
        "postings",
        "contested_at",
        "passed_by",
        "passed_at",
        "closed_at",
      ),
    )
    .where("task_id", "=", param("task_id"))
    .where("state", "=", param("old_state"))
    .where("deadline", "=", param("old_deadline")),
);

/** Stores the next state of an open inspection; false if it is no longer in the state of `before`. */
export async function updateInspection(
  tx: Tx,
  before: Pick<InspectionRow, "state" | "deadline">,
  after: InspectionRow,
): Promise<boolean> {
  const guard = { old_state: before.state, old_deadline: before.deadline };
  return (await tx.run(updateQuery, { ...after, ...guard })) === 1;
}

const dueInspections = compile<{ until: number; limit: number }>()(
  queryBuilder
    .selectFrom("inspections")
    .selectAll()
    .where("deadline", "is not", null)
    .where("deadline", "<=", param("until"))
    .orderBy("deadline")
    .limit(param("limit")),
);

/** Lists open inspections whose deadline is at `until` or earlier, the earliest first. */
export function listDueInspections(
  read: Reader,
  query: { until: number; limit: number },
): Promise<InspectionRow[]> {
  return read.all(dueInspections, query);
}

const unmovedInspections = compile<{ until: number; after: string; limit: number }>()(
  queryBuilder
    .selectFrom("inspections")
    .selectAll()
    .where("deadline", "is not", null)
    .where("deadline", "<=", param("until"))
    .where("moved", "=", 0)
    .where("task_id", ">", param("after"))
    .orderBy("task_id")
    .limit(param("limit")),
);

/** The same for those that no start of the relay has moved, by task id. */
export function listUnmovedInspections(
  read: Reader,
  query: { until: number; after: string; limit: number },
): Promise<InspectionRow[]> {
  return read.all(unmovedInspections, query);
}

const postponeQuery = compile<{ ms: number }>()(
  queryBuilder
    .updateTable("inspections")
    .set({ deadline: sql`deadline + cast(${param("ms")} as bigint)` })
    .where("deadline", "is not", null),
);

/** Extends every open inspection by the time for which the relay was frozen. */
export async function postponeInspections(tx: Tx, ms: number): Promise<void> {
  await tx.run(postponeQuery, { ms });
}
