import { compile, param, params, queryBuilder, sql } from "../storage/queries/compiled-query.ts";
import { databaseTime } from "../storage/queries/fragments.ts";
import type { Reader, Storage, Tx } from "../storage/storage.ts";
import type { ProcessRow } from "../storage/tables/processes.ts";
import { LEASE_MS } from "./lease-store.ts";

/** A process counts as dead when it has not renewed its row for this long. */
export const PROCESS_LIFETIME_MS = 10_000;

const lifetimeEnd = sql<number>`${databaseTime} + ${sql.lit(PROCESS_LIFETIME_MS)}`;

/** The time of the database when it wrote a row, and what it then knew of other processes. */
export interface WrittenRow {
  readonly now: number;
  /** The number of other processes that were alive. */
  readonly others: number;
  /** Whether one of them held the lease. */
  readonly is_led: 0 | 1;
}

type RowWithLease = Pick<ProcessRow, "process_id"> & { readonly lease: string };

/** A row whose end is further ahead was stored before the database's clock was set back. */
const latestEnd = sql<number>`${databaseTime} + ${sql.lit(2 * PROCESS_LIFETIME_MS)}`;

/** Whether the process of a row of `processes` is alive. */
export const isLive = sql<
  0 | 1
>`(processes.until > ${databaseTime} and processes.until < ${latestEnd})`;

const otherCount = sql<number>`(
  select count(*) from processes where process_id <> ${param("process_id")} and ${isLive})`;

/** A lease whose end is further ahead was stored before the database's clock was set back. */
const isLedByOther = sql<0 | 1>`(
  select count(*) from leases where leases.name = ${param("lease")}
    and leases.holder <> ${param("process_id")} and leases.until > ${databaseTime}
    and leases.until <= ${databaseTime} + ${sql.lit(2 * LEASE_MS)})`;

const addProcess = compile<RowWithLease & Pick<ProcessRow, "name" | "version">>()(
  queryBuilder
    .insertInto("processes")
    .values({
      ...params("process_id", "name", "version"),
      started_at: databaseTime,
      until: lifetimeEnd,
    })
    .returning([databaseTime.as("now"), otherCount.as("others"), isLedByOther.as("is_led")]),
);

export function insertProcess(
  { reserved }: Pick<Storage, "reserved">,
  process: RowWithLease & Pick<ProcessRow, "name" | "version">,
): Promise<WrittenRow | undefined> {
  return reserved.get(addProcess, process);
}

const renewUpdate = compile<RowWithLease>()(
  queryBuilder
    .updateTable("processes")
    .set({ until: lifetimeEnd })
    .where("process_id", "=", param("process_id"))
    .returning([databaseTime.as("now"), otherCount.as("others"), isLedByOther.as("is_led")]),
);

/** Undefined when the row is gone, because others counted the process as dead. */
export function renewProcess(
  { reserved }: Pick<Storage, "reserved">,
  process: RowWithLease,
): Promise<WrittenRow | undefined> {
  return reserved.get(renewUpdate, process);
}

const deleteOne = compile<{ process_id: string }>()(
  queryBuilder
    .deleteFrom("processes")
    .where("process_id", "=", param("process_id"))
    .returning("process_id"),
);

export async function deleteProcess(
  { reserved }: Pick<Storage, "reserved">,
  process_id: string,
): Promise<void> {
  await reserved.get(deleteOne, { process_id });
}

/** Long enough that no process which is only slow loses its rows. */
const KEEP_DEAD_MS = 60_000;

const deleteDead = compile()(
  queryBuilder
    .deleteFrom("processes")
    .where(
      sql<boolean>`until < ${databaseTime} - ${sql.lit(KEEP_DEAD_MS)} or until > ${latestEnd}`,
    ),
);

/** Deletes the rows of processes that ended without giving them up. */
export async function deleteDeadProcesses(tx: Tx): Promise<void> {
  await tx.run(deleteDead, {});
}

/** A process as the other processes see it. */
export interface KnownProcess extends ProcessRow {
  readonly is_live: 0 | 1;
  readonly leads: 0 | 1;
  readonly agents: number;
}

const knownProcesses = compile<{ lease: string }>()(
  sql<KnownProcess>`
    select process_id, name, version, started_at, until, ${isLive} as is_live,
      (select count(*) from presences
        where presences.process_id = processes.process_id) as agents,
      (select count(*) from leases where leases.name = ${param("lease")}
        and leases.holder = processes.process_id and leases.until > ${databaseTime}) as leads
    from processes order by started_at, process_id`,
);

/** Lists the processes with a row, the oldest first; the holder of `lease` leads. */
export function listKnownProcesses(read: Reader, lease: string): Promise<KnownProcess[]> {
  return read.all(knownProcesses, { lease });
}

const liveCount = compile()(
  sql<{ count: number }>`select count(*) as count from processes where ${isLive}`,
);

export async function countLiveProcesses(read: Reader): Promise<number> {
  return (await read.get(liveCount, {}))?.count ?? 0;
}
