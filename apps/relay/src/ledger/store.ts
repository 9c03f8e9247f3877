import { queryBuilder, param, params, compile } from "../storage/queries/compiled-query.ts";
import { inRowForm } from "../storage/queries/row-form.ts";
import type { Reader, Tx } from "../storage/storage.ts";
import { KEYED_TABLES } from "../storage/tables/keyed-tables.ts";
import type { LedgerRow } from "../storage/tables/ledger.ts";

type GoalKey = Pick<LedgerRow, "agent_id" | "goal_id">;

const ledgerOfGoal = compile<GoalKey>()(
  queryBuilder
    .selectFrom("ledgers")
    .selectAll()
    .where("agent_id", "=", param("agent_id"))
    .where("goal_id", "=", param("goal_id")),
);

export function findLedger(read: Reader, goal: GoalKey): Promise<LedgerRow | undefined> {
  return read.get(ledgerOfGoal, goal);
}

/** The part of a ledger that a settlement needs; a whole ledger can be long. */
export type LedgerStepCount = Pick<LedgerRow, "content_hash" | "steps_completed" | "steps_total">;

const STEP_COUNT_COLUMNS = ["content_hash", "steps_completed", "steps_total"] as const;

const stepCountByGoal = inRowForm(
  compile<GoalKey>()(
    queryBuilder
      .selectFrom("ledgers")
      .select(STEP_COUNT_COLUMNS)
      .where("agent_id", "=", param("agent_id"))
      .where("goal_id", "=", param("goal_id")),
  ),
  { kind: "find", table: KEYED_TABLES.ledgers, columns: STEP_COUNT_COLUMNS },
);

export function findLedgerStepCount(
  read: Reader,
  goal: GoalKey,
): Promise<LedgerStepCount | undefined> {
  return read.get(stepCountByGoal, goal);
}

const insertLedgerQuery = compile<LedgerRow>()(
  queryBuilder
    .insertInto("ledgers")
    .values(
      params(
        "agent_id",
        "goal_id",
        "content_hash",
        "body",
        "steps_completed",
        "steps_total",
        "stored_at",
      ),
    )
    .onConflict((conflict) => conflict.doNothing()),
);

/** Returns false when the agent's goal has a ledger already. */
export async function insertLedger(tx: Tx, ledger: LedgerRow): Promise<boolean> {
  return (await tx.run(insertLedgerQuery, ledger)) === 1;
}

const replaceLedgerQuery = compile<LedgerRow & { older: string }>()(
  queryBuilder
    .updateTable("ledgers")
    .set(params("content_hash", "body", "steps_completed", "steps_total", "stored_at"))
    .where("agent_id", "=", param("agent_id"))
    .where("goal_id", "=", param("goal_id"))
    .where("content_hash", "=", param("older")),
);

/** Replaces the ledger `older` by one that extends it; false when `older` is no longer stored. */
export async function replaceLedger(tx: Tx, ledger: LedgerRow, older: string): Promise<boolean> {
  return (await tx.run(replaceLedgerQuery, { ...ledger, older })) === 1;
}
