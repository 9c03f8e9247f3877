import {
  compile,
  either,
  param,
  params,
  queryBuilder,
  sql,
} from "../../storage/queries/compiled-query.ts";
import type { Reader, Tx } from "../../storage/storage.ts";
import type { LogEntryRow, LogSegmentRow } from "../../storage/tables/log.ts";
import type { MergedSegments, PlannedSegment } from "./plan-step.ts";

/** Where an entry has the first bytes of its artifact's hash. */
const PREFIX = { at: 58, bytes: 6 } as const;

/** A step moves about 1,000 rows, so that other transactions wait for it for a few milliseconds at most. */
const DELETED_ROWS = 1_024;
/** Of each of the 16 segments that are merged. */
const COPIED_ROWS = 64;

/** Before every prefix, and behind every prefix. */
const [FIRST, END] = [new Uint8Array(), new Uint8Array(PREFIX.bytes + 1).fill(255)];

const ownGeneration = sql<number>`(select generation from log_state)`;
const isLive = sql<boolean>`state = 'live' and generation = ${ownGeneration}`;
const isMerged = sql<boolean>`${isLive} and level = ${param("level")} and first <= ${param("last")}`;

const segmentList = compile()(sql<PlannedSegment>`
  select segment, level, first, copied,
    case when generation = ${ownGeneration} then state else 'ended' end as state
  from log_segments order by first`);

/** Lists all segments in the order of the log. Those of an older generation have ended. */
export function listSegments(read: Reader): Promise<PlannedSegment[]> {
  return read.all(segmentList, {});
}

const insertQuery = compile<Omit<LogSegmentRow, "generation">>()(
  queryBuilder.insertInto("log_segments").values({
    ...params("segment", "level", "first", "state", "copied"),
    generation: ownGeneration,
  }),
);

/** Adds a live segment, or one that a merge begins to fill, behind the others. */
export async function insertSegment(
  tx: Tx,
  segments: readonly PlannedSegment[],
  added: Pick<LogSegmentRow, "level" | "first" | "state">,
): Promise<number> {
  const segment = Math.max(0, ...segments.map((each) => each.segment)) + 1;
  await tx.run(insertQuery, { ...added, segment, copied: FIRST });
  return segment;
}

const indexQuery = compile<{ segment: number; after: number; size: number }>()(sql<never>`
  insert into log_segment_rows (segment, prefix, idx)
  select cast(${param("segment")} as bigint),
    substr(entry, ${sql.lit(PREFIX.at + 1)}, ${sql.lit(PREFIX.bytes)}) as prefix, idx
  from log_entries where idx > ${param("after")} and idx <= ${param("size")}
  order by prefix`);

/** Adds the entries behind a number of entries to a segment, up to a size of the log. */
export async function insertSegmentRows(
  tx: Tx,
  rows: { readonly segment: number; readonly after: number; readonly size: number },
): Promise<void> {
  await tx.run(indexQuery, rows);
}

const sliceEnd = compile<MergedSegments & { after: Uint8Array }>()(sql<{
  prefix: Uint8Array | null;
}>`
  select (
    select prefix from log_segment_rows as merged
    where merged.segment = log_segments.segment and merged.prefix > ${param("after")}
    order by merged.prefix limit 1 offset ${sql.lit(COPIED_ROWS - 1)}
  ) as prefix
  from log_segments where ${isMerged}
  order by prefix nulls last limit 1`);

const isInSlice = sql<boolean>`prefix > ${param("after")} and prefix <= ${param("end")}`;

/** Postgres might read the slice of all segments because of its statistics, so the query joins each of these. */
const mergedSlice = either({
  sqlite: sql`
    from log_segment_rows
    where segment in (select segment from log_segments where ${isMerged}) and ${isInSlice}`,
  postgres: sql`
    from log_segments cross join lateral (
      select prefix, idx from log_segment_rows as merged
      where merged.segment = log_segments.segment and ${isInSlice} offset 0
    ) as slice where ${isMerged}`,
});

const copyQuery = compile<
  MergedSegments & { target: number; after: Uint8Array; end: Uint8Array }
>()(sql<never>`
  insert into log_segment_rows (segment, prefix, idx)
  select cast(${param("target")} as bigint), prefix, idx ${mergedSlice} order by prefix`);

const saveCopiedQuery = compile<{ target: number; end: Uint8Array }>()(
  queryBuilder
    .updateTable("log_segments")
    .set({ copied: param("end") })
    .where("segment", "=", param("target")),
);

const endMergedQuery = compile<MergedSegments>()(
  queryBuilder.updateTable("log_segments").set({ state: "ended" }).where(isMerged),
);

const makeLiveQuery = compile<{ target: number }>()(
  queryBuilder
    .updateTable("log_segments")
    .set({ state: "live" })
    .where("segment", "=", param("target")),
);

/** Copies the next rows of the merged segments. The last rows make the target replace them. */
export async function copySlice(
  tx: Tx,
  merged: MergedSegments,
  { segment: target, copied: after }: PlannedSegment,
): Promise<void> {
  const end = (await tx.get(sliceEnd, { ...merged, after }))?.prefix ?? END;
  await tx.run(copyQuery, { ...merged, target, after, end });
  if (end === END) {
    await tx.run(endMergedQuery, merged);
    await tx.run(makeLiveQuery, { target });
  } else {
    await tx.run(saveCopiedQuery, { target, end });
  }
}

const deleteRowsQuery = compile<{ segment: number; end: Uint8Array }>()(
  queryBuilder
    .deleteFrom("log_segment_rows")
    .where("segment", "=", param("segment"))
    .where(
      "prefix",
      "<=",
      sql<never>`coalesce((
        select prefix from log_segment_rows as deleted where deleted.segment = ${param("segment")}
        order by deleted.prefix limit 1 offset ${sql.lit(DELETED_ROWS - 1)}
      ), ${param("end")})`,
    ),
);

const deleteEmptyQuery = compile<{ segment: number }>()(
  queryBuilder
    .deleteFrom("log_segments")
    .where("segment", "=", param("segment"))
    .where(
      sql<boolean>`not exists (select 1 from log_segment_rows where segment = ${param("segment")})`,
    ),
);

/** Deletes rows of a segment, and the segment once it has none. */
export async function deleteSlice(tx: Tx, segment: number): Promise<void> {
  await tx.run(deleteRowsQuery, { segment, end: END });
  await tx.run(deleteEmptyQuery, { segment });
}

const entriesByPrefix = compile<{ prefix: Uint8Array; number: number }>()(sql<LogEntryRow>`
  select idx, entry from log_entries where idx in (
    select idx from log_index where prefix = ${param("number")}
    union all
    select idx from log_segment_rows
    where segment in (select segment from log_segments where ${isLive}) and prefix = ${param("prefix")}
  ) order by idx`);

/**
 * Lists the entries covered by a head whose artifact hash has this prefix, oldest first. Entries that were
 * indexed before there were segments have the prefix as a number.
 */
export function listEntriesByPrefix(
  read: Reader,
  artifactHash: Uint8Array,
): Promise<LogEntryRow[]> {
  const prefix = artifactHash.slice(0, PREFIX.bytes);
  const number = prefix.reduce((sum, byte) => sum * 256 + byte, 0);
  return read.all(entriesByPrefix, { prefix, number });
}
