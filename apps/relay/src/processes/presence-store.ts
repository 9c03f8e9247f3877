import { compile, param, params, queryBuilder, sql } from "../storage/queries/compiled-query.ts";
import { databaseTime } from "../storage/queries/fragments.ts";
import type { Reader, Tx } from "../storage/storage.ts";
import type { PresenceRow } from "../storage/tables/processes.ts";

const savePresenceQuery = compile<PresenceRow>()(
  queryBuilder
    .insertInto("presences")
    .values(params("agent_id", "process_id", "devices"))
    .onConflict((conflict) =>
      conflict.columns(["agent_id", "process_id"]).doUpdateSet(params("devices")),
    ),
);

export async function savePresence(tx: Tx, presence: PresenceRow): Promise<void> {
  await tx.run(savePresenceQuery, presence);
}

const deletePresenceQuery = compile<Pick<PresenceRow, "agent_id" | "process_id">>()(
  queryBuilder
    .deleteFrom("presences")
    .where("agent_id", "=", param("agent_id"))
    .where("process_id", "=", param("process_id")),
);

export async function deletePresence(
  tx: Tx,
  presence: Pick<PresenceRow, "agent_id" | "process_id">,
): Promise<void> {
  await tx.run(deletePresenceQuery, presence);
}

const presencesOfAgent = compile<{ agent_id: string }>()(
  queryBuilder.selectFrom("presences").selectAll().where("agent_id", "=", param("agent_id")),
);

export function listPresencesOf(read: Reader, agent_id: string): Promise<PresenceRow[]> {
  return read.all(presencesOfAgent, { agent_id });
}

const everyPresence = compile()(queryBuilder.selectFrom("presences").selectAll());

export function listPresences(read: Reader): Promise<PresenceRow[]> {
  return read.all(everyPresence, {});
}

const everyProcess = compile()(
  queryBuilder
    .selectFrom("processes")
    .select(["process_id", sql<0 | 1>`until > ${databaseTime}`.as("is_live")]),
);

/** Lists the processes with a row, and whether each is alive by the clock of the database. */
export function listProcesses(
  read: Reader,
): Promise<{ readonly process_id: string; readonly is_live: 0 | 1 }[]> {
  return read.all(everyProcess, {});
}

const deleteOfEnded = compile()(
  queryBuilder
    .deleteFrom("presences")
    .where("process_id", "not in", queryBuilder.selectFrom("processes").select("process_id")),
);

/** Deletes the presences of processes without a row. */
export async function deleteEndedPresences(tx: Tx): Promise<void> {
  await tx.run(deleteOfEnded, {});
}

const deleteOfProcess = compile<{ process_id: string }>()(
  queryBuilder
    .deleteFrom("presences")
    .where("process_id", "=", param("process_id"))
    .returning("agent_id"),
);

/** Deletes the presences of one process and returns their agents. */
export async function deletePresencesOf(tx: Tx, process_id: string): Promise<string[]> {
  const rows = await tx.all(deleteOfProcess, { process_id });
  return rows.map(({ agent_id }) => agent_id);
}
