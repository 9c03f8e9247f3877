import {
  inBatches,
  queryBuilder,
  param,
  params,
  compile,
  sql,
} from "../storage/queries/compiled-query.ts";
import type { Reader, Tx } from "../storage/storage.ts";
import type { SpentTokenRow } from "../storage/tables/identity.ts";

const insertSpentTokenQuery = compile<SpentTokenRow>()(
  queryBuilder
    .insertInto("spent_tokens")
    .values(params("agent_id", "jti", "kind", "forget_at"))
    .onConflict((conflict) => conflict.doNothing()),
);

/** Returns false when the token was already used for this operation. */
export async function insertSpentToken(tx: Tx, token: SpentTokenRow): Promise<boolean> {
  return (await tx.run(insertSpentTokenQuery, token)) === 1;
}

const revokedToken = inBatches(
  compile<Pick<SpentTokenRow, "agent_id" | "jti">>()(
    queryBuilder
      .selectFrom("spent_tokens")
      .select("jti")
      .where("agent_id", "=", param("agent_id"))
      .where("jti", "=", param("jti"))
      .where("kind", "=", "revoked"),
  ),
);

export async function isRevokedToken(
  read: Reader,
  token: Pick<SpentTokenRow, "agent_id" | "jti">,
): Promise<boolean> {
  return (await read.get(revokedToken, token)) !== undefined;
}

const deleteExpiredTokensQuery = compile<{ now: number; limit: number }>()(
  sql<never>`
    delete from spent_tokens where (agent_id, jti, kind) in (
      select agent_id, jti, kind from spent_tokens where forget_at <= ${param("now")}
      limit ${param("limit")})`,
);

export function deleteExpiredSpentTokens(
  tx: Tx,
  old: { now: number; limit: number },
): Promise<number> {
  return tx.run(deleteExpiredTokensQuery, old);
}
