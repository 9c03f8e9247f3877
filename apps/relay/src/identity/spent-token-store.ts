import { db, p, prepare, sql } from "../storage/prepared.ts";
import type { Reader, Tx } from "../storage/storage.ts";
import type { SpentTokenRow } from "../storage/tables/identity.ts";

const addSpent = prepare<SpentTokenRow>()(
  db
    .insertInto("spent_tokens")
    .values({
      agent_id: p("agent_id"),
      jti: p("jti"),
      kind: p("kind"),
      forget_at: p("forget_at"),
    })
    .onConflict((conflict) => conflict.doNothing()),
);

/** False when the token is spent in this way already. */
export async function insertSpent(tx: Tx, token: SpentTokenRow): Promise<boolean> {
  return (await tx.run(addSpent, token)) === 1;
}

const revokedToken = prepare<Pick<SpentTokenRow, "agent_id" | "jti">>()(
  db
    .selectFrom("spent_tokens")
    .select("jti")
    .where("agent_id", "=", p("agent_id"))
    .where("jti", "=", p("jti"))
    .where("kind", "=", "revoked"),
);

export async function isRevokedToken(
  read: Reader,
  token: Pick<SpentTokenRow, "agent_id" | "jti">,
): Promise<boolean> {
  return (await read.get(revokedToken, token)) !== undefined;
}

const forget = prepare<{ now: number; limit: number }>()(
  sql<never>`
    delete from spent_tokens where (agent_id, jti, kind) in (
      select agent_id, jti, kind from spent_tokens where forget_at <= ${p("now")}
      limit ${p("limit")})`,
);

export function forgetSpent(tx: Tx, old: { now: number; limit: number }): Promise<number> {
  return tx.run(forget, old);
}
