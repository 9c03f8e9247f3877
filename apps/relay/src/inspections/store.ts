import { compile, param, params, queryBuilder, sql } from "../storage/queries/compiled-query.ts";
import type { Reader, Tx } from "../storage/storage.ts";
import type { InspectionCountRow, InspectionRow } from "../storage/tables/inspections.ts";
import { computeCountChanges, type CountedParts } from "./count-changes.ts";

const inspectionByTask = compile<{ task_id: string }>()(
  queryBuilder.selectFrom("inspections").selectAll().where("task_id", "=", param("task_id")),
);

export function findInspection(read: Reader, task_id: string): Promise<InspectionRow | undefined> {
  return read.get(inspectionByTask, { task_id });
}

/** The columns that are set when an inspection begins. */
const FIXED_COLUMNS = [
  "task_id",
  "agent_id",
  "dispute_id",
  "terms",
  "submitter_id",
  "executor_id",
  "receipt_hash",
  "ledger_hash",
  "due",
  "due_status",
  "fee",
  "counted",
  "begun_at",
] as const;

/** The columns that a move of an inspection changes. */
const MOVING_COLUMNS = [
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
] as const;

const insertQuery = compile<InspectionRow>()(
  queryBuilder.insertInto("inspections").values(params(...FIXED_COLUMNS, ...MOVING_COLUMNS)),
);

export async function insertInspection(tx: Tx, row: InspectionRow): Promise<void> {
  await tx.run(insertQuery, row);
}

const updateQuery = compile<InspectionRow & { old_state: string; old_deadline: number | null }>()(
  queryBuilder
    .updateTable("inspections")
    .set(params(...MOVING_COLUMNS))
    .where("task_id", "=", param("task_id"))
    .where("state", "=", param("old_state"))
    .where("deadline", "=", param("old_deadline")),
);

const COUNT_COLUMNS = [
  "submitter_closed",
  "submitter_rejected",
  "submitter_lost",
  "executor_closed",
  "executor_rejected",
  "executor_lost",
  "arbiter_opened",
  "arbiter_decided",
  "arbiter_undecided",
  "arbiter_passed",
] as const;

const addCounts = compile<InspectionCountRow>()(
  queryBuilder
    .insertInto("inspection_counts")
    .values(params("agent_id", ...COUNT_COLUMNS))
    .onConflict((conflict) =>
      conflict
        .column("agent_id")
        .doUpdateSet(
          Object.fromEntries(
            COUNT_COLUMNS.map((column) => [
              column,
              sql`${sql.ref(`inspection_counts.${column}`)} + ${sql.ref(`excluded.${column}`)}`,
            ]),
          ),
        ),
    ),
);

/**
 * Stores the next state of an open inspection, with its effect on the statistics; false if it is no longer
 * in the state of `before`. `isDecisionCounted`: whether its decision, if it has one, counts for its arbiter.
 */
export async function updateInspection(
  tx: Tx,
  before: CountedParts & Pick<InspectionRow, "state" | "deadline">,
  after: InspectionRow,
  isDecisionCounted = true,
): Promise<boolean> {
  const guard = { old_state: before.state, old_deadline: before.deadline };
  if ((await tx.run(updateQuery, { ...after, ...guard })) !== 1) return false;
  for (const change of computeCountChanges(before, after, isDecisionCounted)) {
    await tx.run(addCounts, change);
  }
  return true;
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

/** Lists those, by task id, whose deadline has not been extended yet at a start of the relay. */
export function listUnmovedInspections(
  read: Reader,
  query: { until: number; after: string; limit: number },
): Promise<InspectionRow[]> {
  return read.all(unmovedInspections, query);
}

const inspectionsAhead = compile<{ from: number; after: string; limit: number }>()(
  queryBuilder
    .selectFrom("inspections")
    .selectAll()
    .where("deadline", ">", param("from"))
    .where("task_id", ">", param("after"))
    .orderBy("task_id")
    .limit(param("limit")),
);

/** Lists open inspections whose deadline is after `from`, by task id. */
export function listInspectionsAhead(
  read: Reader,
  query: { from: number; after: string; limit: number },
): Promise<InspectionRow[]> {
  return read.all(inspectionsAhead, query);
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
