import { queryBuilder, param, params, compile, sql } from "../../storage/queries/compiled-query.ts";
import type { Reader, Tx } from "../../storage/storage.ts";
import type { IdempotencyKeyRow } from "../../storage/tables/http.ts";

type IdempotencyKey = Pick<IdempotencyKeyRow, "scope" | "key">;

const keyInScope = compile<IdempotencyKey & { since: number }>()(
  queryBuilder
    .selectFrom("idempotency_keys")
    .selectAll()
    .where("scope", "=", param("scope"))
    .where("key", "=", param("key"))
    .where("created_at", ">", param("since")),
);

export function findIdempotencyKey(
  read: Reader,
  key: IdempotencyKey & { since: number },
): Promise<IdempotencyKeyRow | undefined> {
  return read.get(keyInScope, key);
}

const insertKeyQuery = compile<IdempotencyKeyRow>()(
  queryBuilder
    .insertInto("idempotency_keys")
    .values(params("scope", "key", "request_hash", "status", "body", "created_at"))
    .onConflict((conflict) => conflict.doNothing()),
);

const deleteKeyQuery = compile<IdempotencyKey & { since: number }>()(
  queryBuilder
    .deleteFrom("idempotency_keys")
    .where("scope", "=", param("scope"))
    .where("key", "=", param("key"))
    .where("created_at", "<=", param("since")),
);

/** Inserts a key and replaces one that expired at `since`; false if another request has it. */
export async function insertIdempotencyKey(
  tx: Tx,
  row: IdempotencyKeyRow,
  since: number,
): Promise<boolean> {
  await tx.run(deleteKeyQuery, { ...row, since });
  return (await tx.run(insertKeyQuery, row)) === 1;
}

const deleteExpiredKeysQuery = compile<{ until: number; limit: number }>()(
  sql<never>`
    delete from idempotency_keys where (scope, key) in (
      select scope, key from idempotency_keys where created_at <= ${param("until")}
      limit ${param("limit")})`,
);

export function deleteExpiredIdempotencyKeys(
  tx: Tx,
  old: { until: number; limit: number },
): Promise<number> {
  return tx.run(deleteExpiredKeysQuery, old);
}
