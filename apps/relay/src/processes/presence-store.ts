import { compile, param, queryBuilder, sql } from "../storage/queries/compiled-query.ts";
import { jsonMembers, jsonTexts } from "../storage/queries/fragments.ts";
import type { Reader, Tx } from "../storage/storage.ts";
import type { PresenceRow } from "../storage/tables/processes.ts";
import { isLive } from "./process-store.ts";

/** The tasks that a device may be sent: null where it made no announcement. */
export interface StoredDevice {
  readonly capabilities: readonly string[] | null;
  readonly agent_announces: boolean;
}

/** A condition keeps SQLite from taking the conflict for one of a join. */
const savePresencesQuery = compile<{ process_id: string; devices: string }>()(
  sql<never>`
    insert into presences (agent_id, process_id, devices)
    select key, ${param("process_id")}, value from ${jsonMembers(param("devices"))} as present
    where true
    on conflict (agent_id, process_id) do update set devices = excluded.devices`,
);

/** Stores the devices of agents at one process, in one statement for all. */
export async function savePresences(
  tx: Tx,
  process_id: string,
  devices: ReadonlyMap<string, readonly StoredDevice[]>,
): Promise<void> {
  if (devices.size === 0) return;
  const texts = Array.from(devices, ([agentId, own]) => [agentId, JSON.stringify(own)] as const);
  const parameters = { process_id, devices: JSON.stringify(Object.fromEntries(texts)) };
  await tx.run(savePresencesQuery, parameters);
}

const deletePresencesQuery = compile<{ process_id: string; agent_ids: string }>()(
  queryBuilder
    .deleteFrom("presences")
    .where("process_id", "=", param("process_id"))
    .where(sql<boolean>`agent_id in ${jsonTexts(param("agent_ids"))}`),
);

/** Deletes the presences of agents at one process, in one statement for all. */
export async function deletePresences(
  tx: Tx,
  process_id: string,
  agentIds: readonly string[],
): Promise<void> {
  if (agentIds.length === 0) return;
  await tx.run(deletePresencesQuery, { process_id, agent_ids: JSON.stringify(agentIds) });
}

const presencesOfAgents = compile<{ agent_ids: string }>()(
  queryBuilder
    .selectFrom("presences")
    .selectAll()
    .where(sql<boolean>`agent_id in ${jsonTexts(param("agent_ids"))}`),
);

export function listPresencesOf(read: Reader, agentIds: readonly string[]): Promise<PresenceRow[]> {
  return read.all(presencesOfAgents, { agent_ids: JSON.stringify(agentIds) });
}

const everyPresence = compile()(queryBuilder.selectFrom("presences").selectAll());

export function listPresences(read: Reader): Promise<PresenceRow[]> {
  return read.all(everyPresence, {});
}

const livenessOfAll = compile()(
  queryBuilder.selectFrom("processes").select(["process_id", isLive.as("is_live")]),
);

/** Lists the processes with a row, and whether each is alive by the clock of the database. */
export function listLiveness(
  read: Reader,
): Promise<{ readonly process_id: string; readonly is_live: 0 | 1 }[]> {
  return read.all(livenessOfAll, {});
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
