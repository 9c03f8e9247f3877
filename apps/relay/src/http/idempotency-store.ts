import { db, p, prepare, sql } from "../storage/prepared.ts";
import type { Reader, Tx } from "../storage/storage.ts";
import type { IdempotencyKeyRow } from "../storage/tables/http.ts";

type Key = Pick<IdempotencyKeyRow, "scope" | "key">;

const keyInScope = prepare<Key & { since: number }>()(
  db
    .selectFrom("idempotency_keys")
    .selectAll()
    .where("scope", "=", p("scope"))
    .where("key", "=", p("key"))
    .where("created_at", ">", p("since")),
);

export function findKey(
  read: Reader,
  key: Key & { since: number },
): Promise<IdempotencyKeyRow | undefined> {
  return read.get(keyInScope, key);
}

const addKey = prepare<IdempotencyKeyRow>()(
  db.insertInto("idempotency_keys").values({
    scope: p("scope"),
    key: p("key"),
    request_hash: p("request_hash"),
    status: p("status"),
    body: p("body"),
    created_at: p("created_at"),
  }),
);

const dropKey = prepare<Key>()(
  db.deleteFrom("idempotency_keys").where("scope", "=", p("scope")).where("key", "=", p("key")),
);

/** In the place of one that is too old to count. */
export async function insertKey(tx: Tx, row: IdempotencyKeyRow): Promise<void> {
  await tx.run(dropKey, row);
  await tx.run(addKey, row);
}

const forget = prepare<{ until: number; limit: number }>()(
  sql<never>`
    delete from idempotency_keys where (scope, key) in (
      select scope, key from idempotency_keys where created_at <= ${p("until")}
      limit ${p("limit")})`,
);

export function forgetKeys(tx: Tx, old: { until: number; limit: number }): Promise<number> {
  return tx.run(forget, old);
}
