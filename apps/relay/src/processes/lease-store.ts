import { compile, param, queryBuilder, sql } from "../storage/queries/compiled-query.ts";
import { databaseTime, keepUnchanged } from "../storage/queries/fragments.ts";
import type { Reader, Storage } from "../storage/storage.ts";

/** A lease that is not renewed for this long may be taken by another process. */
export const LEASE_MS = 10_000;

/** A process's hold on a lease; the fence distinguishes it from every other hold. */
export interface HeldLease {
  readonly name: string;
  readonly holder: string;
  readonly fence: number;
}

/** A lease whose end is further ahead was stored before the database's clock was set back. */
const acquireQuery = compile<{ name: string; holder: string }>()(
  sql<{ fence: number }>`
    insert into leases (name, holder, fence, until)
    values (${param("name")}, ${param("holder")}, 1, ${databaseTime} + ${sql.lit(LEASE_MS)})
    on conflict (name) do update set
      holder = excluded.holder,
      until = excluded.until,
      fence = leases.fence + case when leases.holder = excluded.holder then 0 else 1 end
    where leases.holder = excluded.holder or leases.until <= ${databaseTime}
      or leases.until > ${databaseTime} + ${sql.lit(2 * LEASE_MS)}
    returning fence`,
);

/** Acquires or renews a lease, and returns its fence; undefined while another process holds it. */
export async function acquireLease(
  { reserved }: Pick<Storage, "reserved">,
  lease: { readonly name: string; readonly holder: string },
): Promise<number | undefined> {
  return (await reserved.get(acquireQuery, lease))?.fence;
}

const holdQuery = compile<HeldLease>()(
  sql<{ now: number }>`
    select ${databaseTime} as now from leases
    where name = ${param("name")} and holder = ${param("holder")} and fence = ${param("fence")}
    ${keepUnchanged}`,
);

/**
 * Returns the time of the database if a hold is still in force, else undefined, and keeps it so until the
 * transaction ends.
 */
export async function keepLease(read: Reader, lease: HeldLease): Promise<number | undefined> {
  return (await read.get(holdQuery, lease))?.now;
}

const releaseQuery = compile<HeldLease>()(
  queryBuilder
    .updateTable("leases")
    .set({ until: 0 })
    .where("name", "=", param("name"))
    .where("holder", "=", param("holder"))
    .where("fence", "=", param("fence"))
    .returning("name"),
);

/** Lets another process take the lease at once; the row stays, so that no fence is used twice. */
export async function releaseLease(
  { reserved }: Pick<Storage, "reserved">,
  lease: HeldLease,
): Promise<void> {
  await reserved.get(releaseQuery, lease);
}
