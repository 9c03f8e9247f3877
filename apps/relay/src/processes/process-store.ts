import { compile, param, params, queryBuilder, sql } from "../storage/queries/compiled-query.ts";
import { databaseTime } from "../storage/queries/fragments.ts";
import type { Storage, Tx } from "../storage/storage.ts";
import type { ProcessRow } from "../storage/tables/processes.ts";

/** A process counts as dead when it has not renewed its row for this long. */
export const PROCESS_LIFETIME_MS = 10_000;

const lifetimeEnd = sql<number>`${databaseTime} + ${sql.lit(PROCESS_LIFETIME_MS)}`;

/** The time of the database when it wrote a row. */
interface WrittenRow {
  readonly now: number;
}

const addProcess = compile<Pick<ProcessRow, "process_id" | "name" | "version">>()(
  queryBuilder
    .insertInto("processes")
    .values({
      ...params("process_id", "name", "version"),
      started_at: databaseTime,
      until: lifetimeEnd,
    })
    .returning(databaseTime.as("now")),
);

export function insertProcess(
  { runAlone }: Pick<Storage, "runAlone">,
  process: Pick<ProcessRow, "process_id" | "name" | "version">,
): Promise<WrittenRow | undefined> {
  return runAlone(addProcess, process);
}

const renewUpdate = compile<{ process_id: string }>()(
  queryBuilder
    .updateTable("processes")
    .set({ until: lifetimeEnd })
    .where("process_id", "=", param("process_id"))
    .returning(databaseTime.as("now")),
);

/** Undefined when the row is gone, because others counted the process as dead. */
export function renewProcess(
  { runAlone }: Pick<Storage, "runAlone">,
  process_id: string,
): Promise<WrittenRow | undefined> {
  return runAlone(renewUpdate, { process_id });
}

const deleteOne = compile<{ process_id: string }>()(
  queryBuilder
    .deleteFrom("processes")
    .where("process_id", "=", param("process_id"))
    .returning("process_id"),
);

export async function deleteProcess(
  { runAlone }: Pick<Storage, "runAlone">,
  process_id: string,
): Promise<void> {
  await runAlone(deleteOne, { process_id });
}

/** Long enough that no process which is only slow loses its rows. */
const KEEP_DEAD_MS = 60_000;

const deleteDead = compile()(
  queryBuilder
    .deleteFrom("processes")
    .where("until", "<", sql<number>`${databaseTime} - ${sql.lit(KEEP_DEAD_MS)}`),
);

/** Deletes the rows of processes that ended without giving them up. */
export async function deleteDeadProcesses(tx: Tx): Promise<void> {
  await tx.run(deleteDead, {});
}
