import { queryBuilder, param, params, compile, sql } from "../../storage/queries/compiled-query.ts";
import { inRowForm, pickColumns } from "../../storage/queries/row-form.ts";
import type { Reader, Tx } from "../../storage/storage.ts";
import type { IdempotencyKeyRow } from "../../storage/tables/http.ts";
import { KEYED_TABLES } from "../../storage/tables/keyed-tables.ts";

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

const ANSWER_COLUMNS = ["request_hash", "status", "body", "created_at"] as const;

const insertKeyQuery = inRowForm(
  compile<IdempotencyKeyRow & { since: number }>()(
    queryBuilder
      .insertInto("idempotency_keys")
      .values(params("scope", "key", ...ANSWER_COLUMNS))
      .onConflict((conflict) =>
        conflict
          .columns(["scope", "key"])
          .doUpdateSet((row) =>
            Object.fromEntries(
              ANSWER_COLUMNS.map((column) => [column, row.ref(`excluded.${column}`)]),
            ),
          )
          .where("idempotency_keys.created_at", "<=", param("since")),
      ),
  ),
  {
    kind: "merge",
    table: KEYED_TABLES.idempotency_keys,
    rows: (row) => [pickColumns(row, ["scope", "key", ...ANSWER_COLUMNS])],
    merge: (before, row, { since }) =>
      Number(before["created_at"]) <= since ? pickColumns(row, ANSWER_COLUMNS) : undefined,
  },
);

/** Inserts a key and replaces one that expired at `since`; false if another request has it. */
export async function insertIdempotencyKey(
  tx: Tx,
  row: IdempotencyKeyRow,
  since: number,
): Promise<boolean> {
  return (await tx.run(insertKeyQuery, { ...row, since })) === 1;
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
