import { compile, param, queryBuilder, sql } from "../storage/queries/compiled-query.ts";
import type { Reader, Storage, Tx } from "../storage/storage.ts";
import type { SeenRow } from "../storage/tables/processes.ts";

type SeenKey = Pick<SeenRow, "kind" | "key">;

const addOnce = compile<SeenKey & { forget_at: number; now: number }>()(
  sql<{ key: string }>`
    insert into seen (kind, key, count, forget_at)
    values (${param("kind")}, ${param("key")}, 1, ${param("forget_at")})
    on conflict (kind, key) do update set forget_at = excluded.forget_at
    where seen.forget_at <= ${param("now")}
    returning key`,
);

/** Stores a key until a time; false if it is stored already. */
export async function addSeen(
  { runAlone }: Pick<Storage, "runAlone">,
  seen: SeenKey & { readonly forget_at: number; readonly now: number },
): Promise<boolean> {
  return (await runAlone(addOnce, seen)) !== undefined;
}

const countQuery = compile<SeenKey & { forget_at: number; now: number }>()(
  sql<{ count: number }>`
    insert into seen (kind, key, count, forget_at)
    values (${param("kind")}, ${param("key")}, 1, ${param("forget_at")})
    on conflict (kind, key) do update set
      count = case when seen.forget_at <= ${param("now")} then 1 else seen.count + 1 end,
      forget_at = excluded.forget_at
    returning count`,
);

/** Counts one more use of a key, and remembers the count until a time. */
export async function countSeen(
  { runAlone }: Pick<Storage, "runAlone">,
  seen: SeenKey & { readonly forget_at: number; readonly now: number },
): Promise<void> {
  await runAlone(countQuery, seen);
}

const timeQuery = compile<SeenKey & { now: number; forget_at: number }>()(
  sql<{ count: number }>`
    insert into seen (kind, key, count, forget_at)
    values (${param("kind")}, ${param("key")}, ${param("now")}, ${param("forget_at")})
    on conflict (kind, key) do update set
      count = case when seen.count >= excluded.count then seen.count + 1 else excluded.count end
    returning count`,
);

/** Returns `now`, or a later time if it was returned for the key before. */
export async function takeNextTime(
  { runAlone }: Pick<Storage, "runAlone">,
  key: SeenKey & { readonly now: number },
): Promise<number> {
  const taken = await runAlone(timeQuery, { ...key, forget_at: Number.MAX_SAFE_INTEGER });
  return taken?.count ?? key.now;
}

const findQuery = compile<SeenKey & { now: number }>()(
  queryBuilder
    .selectFrom("seen")
    .select(["count", "forget_at"])
    .where("kind", "=", param("kind"))
    .where("key", "=", param("key"))
    .where("forget_at", ">", param("now")),
);

export function findSeen(
  read: Reader,
  seen: SeenKey & { readonly now: number },
): Promise<Pick<SeenRow, "count" | "forget_at"> | undefined> {
  return read.get(findQuery, seen);
}

const deleteQuery = compile<{ forget_at: number }>()(
  queryBuilder.deleteFrom("seen").where("forget_at", "<=", param("forget_at")),
);

export async function deleteExpiredSeen(tx: Tx, now: number): Promise<void> {
  await tx.run(deleteQuery, { forget_at: now });
}
