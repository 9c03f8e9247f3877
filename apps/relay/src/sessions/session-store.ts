import { compile, param, params, queryBuilder, sql } from "../storage/queries/compiled-query.ts";
import type { Reader, Tx } from "../storage/storage.ts";
import type { ConsoleCodeRow, ConsoleSessionRow } from "../storage/tables/operator.ts";

const codeInsert = compile<ConsoleCodeRow>()(
  queryBuilder
    .insertInto("console_codes")
    .values(params("code_hash", "level", "created_by", "token_tag", "expires_at")),
);

export async function insertCode(tx: Tx, code: ConsoleCodeRow): Promise<void> {
  await tx.run(codeInsert, code);
}

const codeTake = compile<{ code_hash: string }>()(
  queryBuilder
    .deleteFrom("console_codes")
    .where("code_hash", "=", param("code_hash"))
    .returningAll(),
);

/** Removes a code and returns it, so that it works once. */
export function takeCode(tx: Tx, code_hash: string): Promise<ConsoleCodeRow | undefined> {
  return tx.get(codeTake, { code_hash });
}

const codePurge = compile<{ now: number }>()(
  queryBuilder.deleteFrom("console_codes").where("expires_at", "<=", param("now")),
);

const sessionPurge = compile<{ now: number; idle: number }>()(
  queryBuilder
    .deleteFrom("console_sessions")
    .where(sql<boolean>`(expires_at <= ${param("now")} or renewed_at <= ${param("idle")})`),
);

/** Deletes codes and sessions that have ended; `idle` is the time since which a session must be renewed. */
export async function purgeSessions(tx: Tx, ended: { now: number; idle: number }): Promise<void> {
  await tx.run(codePurge, { now: ended.now });
  await tx.run(sessionPurge, ended);
}

const sessionInsert = compile<ConsoleSessionRow>()(
  queryBuilder
    .insertInto("console_sessions")
    .values(
      params(
        "session_id",
        "cookie_hash",
        "opened_by",
        "token_tag",
        "opened_at",
        "renewed_at",
        "operate_until",
        "expires_at",
      ),
    ),
);

export async function insertSession(tx: Tx, session: ConsoleSessionRow): Promise<void> {
  await tx.run(sessionInsert, session);
}

const excessDelete = compile<{ kept: number }>()(
  sql<Pick<ConsoleSessionRow, "session_id">>`
    delete from console_sessions where session_id not in (
      select session_id from console_sessions order by renewed_at desc, session_id desc
      limit ${param("kept")})
    returning session_id`,
);

/** Deletes the sessions that were not renewed for longest, beyond so many, and returns their ids. */
export async function deleteExcessSessions(tx: Tx, kept: number): Promise<string[]> {
  return (await tx.all(excessDelete, { kept })).map(({ session_id }) => session_id);
}

const sessionById = compile<{ session_id: string }>()(
  queryBuilder
    .selectFrom("console_sessions")
    .selectAll()
    .where("session_id", "=", param("session_id")),
);

export function findSession(
  read: Reader,
  session_id: string,
): Promise<ConsoleSessionRow | undefined> {
  return read.get(sessionById, { session_id });
}

const sessionByCookie = compile<{ cookie_hash: string }>()(
  queryBuilder
    .selectFrom("console_sessions")
    .selectAll()
    .where("cookie_hash", "=", param("cookie_hash")),
);

export function findSessionByCookie(
  read: Reader,
  cookie_hash: string,
): Promise<ConsoleSessionRow | undefined> {
  return read.get(sessionByCookie, { cookie_hash });
}

const sessionRenew = compile<{ session_id: string; now: number }>()(
  queryBuilder
    .updateTable("console_sessions")
    .set({ renewed_at: param("now") })
    .where("session_id", "=", param("session_id")),
);

/** Records that the page of a session is still open; false if the session has ended in the meantime. */
export async function renewSession(tx: Tx, session_id: string, now: number): Promise<boolean> {
  return (await tx.run(sessionRenew, { session_id, now })) === 1;
}

const sessionDelete = compile<{ session_id: string }>()(
  queryBuilder.deleteFrom("console_sessions").where("session_id", "=", param("session_id")),
);

/** Returns false when there is no such session. */
export async function deleteSession(tx: Tx, session_id: string): Promise<boolean> {
  return (await tx.run(sessionDelete, { session_id })) === 1;
}

const allSessions = compile()(
  queryBuilder.selectFrom("console_sessions").selectAll().orderBy("session_id", "desc"),
);

/** Lists all sessions, newest first; their number is limited. */
export function listSessions(read: Reader): Promise<ConsoleSessionRow[]> {
  return read.all(allSessions, {});
}
