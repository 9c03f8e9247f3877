import { ZERO, type Micro } from "@agent/budget";
import type { Backing } from "@agent/routing-semiring";
import { compile, param, params, queryBuilder, sql } from "../storage/queries/compiled-query.ts";
import { inRowForm, type RowValues } from "../storage/queries/row-form.ts";
import type { Tx } from "../storage/storage.ts";
import { KEYED_TABLES } from "../storage/tables/keyed-tables.ts";
import type { AgentHistoryRow } from "../storage/tables/trust.ts";

/** The increments of an executor's counters and sums by one task or one changed record. */
export type HistoryStep = Omit<AgentHistoryRow, "agent_id" | "fees_paid">;

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

const executorRow = { ...params("agent_id", ...stepColumns), fees_paid: sql.lit(ZERO) };
const payerRow = {
  agent_id: param("payer_id"),
  ...(Object.fromEntries(stepColumns.map((column) => [column, sql.lit(ZERO)])) as Record<
    keyof HistoryStep,
    ReturnType<typeof sql.lit<Micro>>
  >),
  fees_paid: param("fees_paid"),
};

const addRows = (rows: readonly (typeof executorRow | typeof payerRow)[]) =>
  queryBuilder
    .insertInto("agent_histories")
    .values(rows)
    .onConflict((conflict) =>
      conflict
        .column("agent_id")
        .doUpdateSet(
          Object.fromEntries(
            [...stepColumns, "fees_paid"].map((column) => [
              column,
              sql<number>`${sql.ref(`agent_histories.${column}`)} + ${sql.ref(`excluded.${column}`)}`,
            ]),
          ),
        ),
    );

type ExecutorStep = HistoryStep & { readonly agent_id: string };

const toExecutorRow = ({ agent_id, ...step }: ExecutorStep): RowValues => ({
  agent_id,
  ...step,
  fees_paid: ZERO,
});

const table = KEYED_TABLES.agent_histories;

/** All columns but the key are sums. */
const mergeSums = (before: RowValues, row: RowValues): RowValues =>
  Object.fromEntries(
    [...stepColumns, "fees_paid"].map((column) => [
      column,
      Number(before[column]) + Number(row[column]),
    ]),
  );

const addStep = inRowForm(compile<ExecutorStep>()(addRows([executorRow])), {
  kind: "merge",
  table,
  rows: (step) => [toExecutorRow(step)],
  merge: mergeSums,
});

const addStepAndFees = inRowForm(
  compile<ExecutorStep & { payer_id: string; fees_paid: number }>()(
    addRows([executorRow, payerRow]),
  ),
  {
    kind: "merge",
    table,
    rows: ({ payer_id, fees_paid, ...step }) => [
      toExecutorRow(step),
      { agent_id: payer_id, ...EMPTY_STEP, fees_paid },
    ],
    merge: mergeSums,
  },
);

/** The fees that a payer left by a task. */
export interface PaidFees {
  readonly payer_id: string;
  readonly fees_paid: number;
}

/** Adds to an executor's history, and in the same statement to the fees of the task's payer. */
export async function addToHistory(
  tx: Tx,
  step: HistoryStep & { readonly agent_id: string },
  paid?: PaidFees,
): Promise<void> {
  if (paid === undefined || paid.fees_paid === 0) await tx.run(addStep, step);
  else await tx.run(addStepAndFees, { ...step, ...paid });
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
