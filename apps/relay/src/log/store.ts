import { compile, param, params, queryBuilder, sql } from "../storage/queries/compiled-query.ts";
import type { Reader, Tx } from "../storage/storage.ts";
import type { LogHeadRow, LogStateRow, LogTileRow } from "../storage/tables/log.ts";

const stateRow = compile()(queryBuilder.selectFrom("log_state").selectAll());

export function findLogState(read: Reader): Promise<LogStateRow | undefined> {
  return read.get(stateRow, {});
}

const columns = [
  "origin",
  "generation",
  "incarnation",
  "is_on",
  "began_at",
  "keys_entered",
  "published",
  "root_key",
] as const;

const saveStateQuery = compile<Omit<LogStateRow, "one">>()(
  queryBuilder
    .insertInto("log_state")
    .values({ one: 1, ...params(...columns) })
    .onConflict((conflict) => conflict.column("one").doUpdateSet(params(...columns))),
);

export async function saveLogState(tx: Tx, state: LogStateRow): Promise<void> {
  await tx.run(saveStateQuery, state);
}

const keysEnteredQuery = compile<{ generation: number }>()(
  queryBuilder
    .updateTable("log_state")
    .set({ keys_entered: 1 })
    .where("generation", "=", param("generation")),
);

/** Records that every key has its entries in this generation. */
export async function markKeysEntered(tx: Tx, generation: number): Promise<void> {
  await tx.run(keysEnteredQuery, { generation });
}

const keepRootKeyQuery = compile<{ root_key: string }>()(
  queryBuilder.updateTable("log_state").set(params("root_key")).where("root_key", "is", null),
);

/** Keeps the seed of the log's keys before the relay gets another key. */
export async function keepRootKey(tx: Tx, root_key: string): Promise<void> {
  await tx.run(keepRootKeyQuery, { root_key });
}

const replaceRootKeyQuery = compile<{ root_key: string }>()(
  queryBuilder.updateTable("log_state").set(params("root_key")),
);

/** Stores the seed of the log's keys in another form. */
export async function replaceRootKey(tx: Tx, root_key: string): Promise<void> {
  await tx.run(replaceRootKeyQuery, { root_key });
}

const newestSettlementTime = compile()(
  sql<{ newest: number | null }>`select max(settled_at) as newest from settlements`,
);

/**
 * Returns the time since which a log that begins now has every settlement. Earlier settlements can have later
 * times, because the clock may have been set back.
 */
export async function findBeginning(read: Reader, now: number): Promise<number> {
  const { newest = null } = (await read.get(newestSettlementTime, {})) ?? {};
  return newest === null ? now : Math.max(now, newest + 1);
}

const clearQueries = (["log_entries", "log_tiles", "log_index", "log_heads"] as const).map(
  (table) => compile()(queryBuilder.deleteFrom(table)),
);

/**
 * Removes everything of a generation, because the next one begins with an empty tree. The segments of its index are
 * not read in another one, and are deleted in steps.
 */
export async function clearLog(tx: Tx): Promise<void> {
  for (const query of clearQueries) await tx.run(query, {});
}

const insertTileQuery = compile<LogTileRow>()(
  queryBuilder.insertInto("log_tiles").values(params("level", "n", "hashes", "root")),
);

export async function insertTile(tx: Tx, tile: LogTileRow): Promise<void> {
  await tx.run(insertTileQuery, tile);
}

const tileByPlace = compile<{ level: number; n: number }>()(
  queryBuilder
    .selectFrom("log_tiles")
    .select("hashes")
    .where("level", "=", param("level"))
    .where("n", "=", param("n")),
);

/** Finds the hashes of a full tile. */
export async function findTile(
  read: Reader,
  place: { readonly level: number; readonly n: number },
): Promise<Uint8Array | undefined> {
  return (await read.get(tileByPlace, place))?.hashes;
}

const rootsFrom = compile<{ level: number; from: number; limit: number }>()(
  queryBuilder
    .selectFrom("log_tiles")
    .select("root")
    .where("level", "=", param("level"))
    .where("n", ">=", param("from"))
    .orderBy("n")
    .limit(param("limit")),
);

/** Lists the roots of full tiles, which are the hashes of the next level. */
export async function listTileRoots(
  read: Reader,
  query: { readonly level: number; readonly from: number; readonly limit: number },
): Promise<Uint8Array[]> {
  return (await read.all(rootsFrom, query)).map(({ root }) => root);
}

const heads = queryBuilder.selectFrom("log_heads").selectAll();
const newestHead = compile()(heads.orderBy("size", "desc").limit(1));

/** Finds the newest signed head; undefined before the first. */
export function findNewestHead(read: Reader): Promise<LogHeadRow | undefined> {
  return read.get(newestHead, {});
}

const publishedHead = compile()(
  heads.where(
    "size",
    "=",
    queryBuilder.selectFrom("log_state").select("published").where("published", ">", 0),
  ),
);

/** Finds the newest head that had enough cosignatures; undefined before the first. */
export function findPublishedHead(read: Reader): Promise<LogHeadRow | undefined> {
  return read.get(publishedHead, {});
}

const headBySize = compile<{ size: number }>()(heads.where("size", "=", param("size")));

export function findHead(read: Reader, size: number): Promise<LogHeadRow | undefined> {
  return read.get(headBySize, { size });
}

const bestHead = compile<{ size: number }>()(
  heads
    .where("size", ">=", param("size"))
    .orderBy("cosigned", "desc")
    .orderBy("size", "desc")
    .limit(1),
);

/** Finds the head with the most cosignatures among those that cover at least this many entries. */
export function findBestHead(read: Reader, size: number): Promise<LogHeadRow | undefined> {
  return read.get(bestHead, { size });
}

const insertHeadQuery = compile<LogHeadRow>()(
  queryBuilder.insertInto("log_heads").values(params("size", "signed_at", "note", "cosigned")),
);

export async function insertHead(tx: Tx, head: LogHeadRow): Promise<void> {
  await tx.run(insertHeadQuery, head);
}

const updateHeadQuery = compile<Pick<LogHeadRow, "size" | "note" | "cosigned">>()(
  queryBuilder
    .updateTable("log_heads")
    .set(params("note", "cosigned"))
    .where("size", "=", param("size")),
);

export async function updateHead(
  tx: Tx,
  head: Pick<LogHeadRow, "size" | "note" | "cosigned">,
): Promise<void> {
  await tx.run(updateHeadQuery, head);
}

const publishQuery = compile<{ size: number }>()(
  queryBuilder
    .updateTable("log_state")
    .set({ published: param("size") })
    .where("published", "<", param("size")),
);

/** Publishes a head. An older one is never published again. */
export async function publishHead(tx: Tx, size: number): Promise<void> {
  await tx.run(publishQuery, { size });
}

interface PruneTimes {
  readonly from: number;
  readonly uncosignedBefore: number;
  readonly cosignedBefore: number;
}

const pruneQuery = compile<PruneTimes>()(
  queryBuilder
    .deleteFrom("log_heads")
    .where("signed_at", ">", param("from"))
    .where(sql<boolean>`size <> (select published from log_state)`)
    .where(
      sql<boolean>`(signed_at < ${param("cosignedBefore")}
        or (cosigned = 0 and signed_at < ${param("uncosignedBefore")}))`,
    )
    .where(
      sql<boolean>`exists (select 1 from log_heads as later where later.size > log_heads.size
        and later.signed_at / 3600000 = log_heads.signed_at / 3600000)`,
    ),
);

/** Removes heads that are no longer needed. The newest one, the published one and one an hour stay. */
export async function pruneHeads(tx: Tx, times: PruneTimes): Promise<void> {
  await tx.run(pruneQuery, { ...times });
}
