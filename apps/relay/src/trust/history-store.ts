import { ZERO } from "@agent/budget";
import type { Backing } from "@agent/routing-semiring";
import {
  compile,
  param,
  params,
  queryBuilder,
  sql,
  type Query,
} from "../storage/queries/compiled-query.ts";
import { movePlace } from "../agents/discovery/places/move-place.ts";
import { inRowForm, type RowValues } from "../storage/queries/row-form.ts";
import type { Tx } from "../storage/storage.ts";
import { KEYED_TABLES } from "../storage/tables/keyed-tables.ts";
import type { AgentHistoryRow } from "../storage/tables/trust.ts";

/** The increments of an executor's counters and sums by one task or one changed record. */
export type HistoryStep = Omit<AgentHistoryRow, "agent_id" | "fees_paid" | "fees_used">;

export const EMPTY_STEP: HistoryStep = {
  successful_tasks: 0,
  failed_tasks: 0,
  latency_total_ms: 0,
  free_successful_tasks: 0,
  free_failed_tasks: 0,
  free_latency_total_ms: 0,
  fees_kept: ZERO,
  first_contact_backing: 0,
  verified_backing: 0,
  trusted_backing: 0,
};

const stepColumns = Object.keys(EMPTY_STEP) as (keyof HistoryStep)[];

type ExecutorStep = HistoryStep & { readonly agent_id: string };

/** The fees that a payer left by a task, and those that the task used. */
type PaidFees = Pick<AgentHistoryRow, "agent_id" | "fees_paid" | "fees_used">;

const table = KEYED_TABLES.agent_histories;

/** Returns the statement that adds to some of an agent's sums. */
const addToColumns = <P extends RowValues & { readonly agent_id: string }>(
  columns: readonly (keyof AgentHistoryRow & keyof P)[],
) =>
  inRowForm(
    compile<P>()(
      queryBuilder
        .updateTable("agent_histories")
        .set(
          Object.fromEntries(
            columns.map((column) => [column, sql<number>`${sql.ref(column)} + ${param(column)}`]),
          ),
        )
        .where("agent_id", "=", param("agent_id")),
    ),
    {
      kind: "update",
      table,
      change: (row, added) =>
        Object.fromEntries(
          columns.map((column) => [column, Number(row[column]) + Number(added[column])]),
        ),
    },
  );

const addStep = addToColumns<ExecutorStep>(stepColumns);
const addFees = addToColumns<PaidFees>(["fees_paid", "fees_used"]);

const emptyHistory = { ...EMPTY_STEP, fees_paid: ZERO, fees_used: ZERO };

const openHistory = inRowForm(
  compile<{ agent_id: string }>()(
    queryBuilder
      .insertInto("agent_histories")
      .values({ agent_id: param("agent_id"), ...emptyHistory })
      .onConflict((conflict) => conflict.doNothing()),
  ),
  { kind: "merge", table, rows: ({ agent_id }) => [{ agent_id, ...emptyHistory }] },
);

/** Adds to an executor's history. */
export async function addToHistory(tx: Tx, step: ExecutorStep): Promise<void> {
  await addToSums(tx, addStep, step);
  if (step.fees_kept !== 0) await movePlace(tx, step.agent_id, step.fees_kept);
}

/** Adds to the fees that an agent left as a payer, and to the used part of them. */
export function addToFees(tx: Tx, paid: PaidFees): Promise<void> {
  return addToSums(tx, addFees, paid);
}

/** Updates the sums of an agent, which begin with its first step. */
async function addToSums<P extends { readonly agent_id: string }>(
  tx: Tx,
  update: Query<P, never>,
  added: P,
): Promise<void> {
  if ((await tx.run(update, added)) === 1) return;
  await tx.run(openHistory, { agent_id: added.agent_id });
  await tx.run(update, added);
}

/** Converts backing to the columns that hold it. */
export function toBackingColumns({ first_contact, verified, trusted }: Backing) {
  return {
    first_contact_backing: first_contact,
    verified_backing: verified,
    trusted_backing: trusted,
  };
}

const replaceBackingQuery = compile<{ agent_id: string } & ReturnType<typeof toBackingColumns>>()(
  queryBuilder
    .updateTable("agent_histories")
    .set(params("first_contact_backing", "verified_backing", "trusted_backing"))
    .where("agent_id", "=", param("agent_id")),
);

/** Replaces an executor's backing by one that was computed from all records about it. */
export async function replaceBacking(tx: Tx, agent_id: string, backing: Backing): Promise<void> {
  await tx.run(replaceBackingQuery, { agent_id, ...toBackingColumns(backing) });
}
