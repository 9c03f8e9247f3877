import { ZERO } from "@agent/budget";
import { queryBuilder, param, params, compile, sql } from "../storage/queries/compiled-query.ts";
import { jsonTexts } from "../storage/queries/fragments.ts";
import { inRowForm, pickColumns } from "../storage/queries/row-form.ts";
import type { Reader, Tx } from "../storage/storage.ts";
import { KEYED_TABLES } from "../storage/tables/keyed-tables.ts";
import type { AgentHistoryRow, TrustRecordRow } from "../storage/tables/trust.ts";
import { BLOCKED } from "./levels.ts";

const selectRecord = inRowForm(
  compile<{ agent_id: string; remote_agent_id: string }>()(
    queryBuilder
      .selectFrom("trust_records")
      .selectAll()
      .where("agent_id", "=", param("agent_id"))
      .where("remote_agent_id", "=", param("remote_agent_id")),
  ),
  { kind: "find", table: KEYED_TABLES.trust_records },
);

export function findTrust(
  read: Reader,
  agent_id: string,
  remote_agent_id: string,
): Promise<TrustRecordRow | undefined> {
  return read.get(selectRecord, { agent_id, remote_agent_id });
}

const CHANGING_COLUMNS = [
  "trust_level",
  "last_seen_at",
  "interaction_count",
  "successful_tasks",
  "failed_tasks",
  "paid_tasks",
  "fees_kept",
  "avg_latency_ms",
] as const satisfies readonly (keyof TrustRecordRow)[];

const RECORD_COLUMNS = [
  "agent_id",
  "remote_agent_id",
  "first_seen_at",
  ...CHANGING_COLUMNS,
] as const satisfies readonly (keyof TrustRecordRow)[];

const upsertRecord = inRowForm(
  compile<TrustRecordRow>()(
    queryBuilder
      .insertInto("trust_records")
      .values(params(...RECORD_COLUMNS))
      .onConflict((conflict) =>
        conflict
          .columns(["agent_id", "remote_agent_id"])
          .doUpdateSet((row) =>
            Object.fromEntries(
              CHANGING_COLUMNS.map((column) => [column, row.ref(`excluded.${column}`)]),
            ),
          ),
      ),
  ),
  {
    kind: "merge",
    table: KEYED_TABLES.trust_records,
    rows: (record) => [pickColumns(record, RECORD_COLUMNS)],
    merge: (_, record) => pickColumns(record, CHANGING_COLUMNS),
  },
);

export async function saveTrustRecord(tx: Tx, record: TrustRecordRow): Promise<void> {
  await tx.run(upsertRecord, record);
}

const recordsAbout = compile<{ remote_agent_id: string }>()(
  queryBuilder
    .selectFrom("trust_records")
    .select(["agent_id", "remote_agent_id", "trust_level"])
    .where("remote_agent_id", "=", param("remote_agent_id"))
    .where("trust_level", "!=", sql.lit(BLOCKED)),
);

const deleteRecordsAbout = compile<{ remote_agent_id: string }>()(
  queryBuilder
    .deleteFrom("trust_records")
    .where("remote_agent_id", "=", param("remote_agent_id"))
    .where("trust_level", "!=", sql.lit(BLOCKED)),
);

const deleteHistoryOf = compile<{ agent_id: string }>()(
  queryBuilder.deleteFrom("agent_histories").where("agent_id", "=", param("agent_id")),
);

/** Identifies a trust record by its delegator and its executor. */
export type TrustPair = Pick<TrustRecordRow, "agent_id" | "remote_agent_id">;

/** Deletes the trust records about an executor, and returns them. Blocks stay. */
export async function deleteTrustRecords(tx: Tx, executorId: string): Promise<TrustPair[]> {
  const about = { remote_agent_id: executorId };
  const pairs = await tx.all(recordsAbout, about);
  await tx.run(deleteRecordsAbout, about);
  for (const pair of pairs) tx.noteChange("trust", pair.agent_id, pair.remote_agent_id);
  return pairs;
}

export async function deleteHistory(tx: Tx, agent_id: string): Promise<void> {
  await tx.run(deleteHistoryOf, { agent_id });
}

const recordsByAgent = compile<{ agent_id: string; after: string; limit: number }>()(
  queryBuilder
    .selectFrom("trust_records")
    .selectAll()
    .where("agent_id", "=", param("agent_id"))
    .where("remote_agent_id", ">", param("after"))
    .orderBy("remote_agent_id")
    .limit(param("limit")),
);

export function listTrustRecords(
  read: Reader,
  query: { agent_id: string; after: string; limit: number },
): Promise<TrustRecordRow[]> {
  return read.all(recordsByAgent, query);
}

const recordsOfExecutor = compile<{ remote_agent_id: string; after: string; limit: number }>()(
  queryBuilder
    .selectFrom("trust_records")
    .selectAll()
    .where("remote_agent_id", "=", param("remote_agent_id"))
    .where("agent_id", ">", param("after"))
    .orderBy("agent_id")
    .limit(param("limit")),
);

/** Lists the records that delegators have of an executor, by the delegators' ids. */
export function listTrustOfExecutor(
  read: Reader,
  query: { remote_agent_id: string; after: string; limit: number },
): Promise<TrustRecordRow[]> {
  return read.all(recordsOfExecutor, query);
}

const EXPERIENCE_COLUMNS = [
  "own.remote_agent_id",
  "own.trust_level",
  "own.successful_tasks",
  "own.failed_tasks",
  "own.avg_latency_ms",
] as const;

/** The part of a record by which its delegator ranks the executor. */
export type ExperienceRow = Pick<
  TrustRecordRow,
  "remote_agent_id" | "trust_level" | "successful_tasks" | "failed_tasks" | "avg_latency_ms"
>;

const recordsByCapability = compile<{
  reader: string;
  capability: string;
  after: string;
  limit: number;
}>()(
  queryBuilder
    .selectFrom("trust_records as own")
    .select(EXPERIENCE_COLUMNS)
    .where("own.agent_id", "=", param("reader"))
    .where("own.remote_agent_id", ">", param("after"))
    .where(
      sql<boolean>`exists (select 1 from agent_capabilities as offered
        where offered.capability = ${param("capability")} and offered.agent_id = own.remote_agent_id)`,
    )
    .orderBy("own.remote_agent_id")
    .limit(param("limit")),
);

/** Lists an agent's records of the agents with a capability, by their ids. */
export function listTrustByCapability(
  read: Reader,
  query: { reader: string; capability: string; after: string; limit: number },
) {
  return read.all(recordsByCapability, query);
}

const recordsInAgents = compile<{ reader: string; agents: string }>()(
  queryBuilder
    .selectFrom("trust_records as own")
    .select(EXPERIENCE_COLUMNS)
    .where("own.agent_id", "=", param("reader"))
    .where(sql<boolean>`own.remote_agent_id in ${jsonTexts(param("agents"))}`),
);

/** Lists an agent's records of some agents. */
export function listTrustInAgents(
  read: Reader,
  { reader, agentIds }: { readonly reader: string; readonly agentIds: readonly string[] },
): Promise<ExperienceRow[]> {
  return read.all(recordsInAgents, { reader, agents: JSON.stringify(agentIds) });
}

const selectAllRecords = compile<{ agent_id: string; remote_agent_id: string; limit: number }>()(
  queryBuilder
    .selectFrom("trust_records")
    .select(["agent_id", "remote_agent_id", "trust_level"])
    .where(
      sql<boolean>`(agent_id, remote_agent_id) > (${param("agent_id")}, ${param("remote_agent_id")})`,
    )
    .orderBy("agent_id")
    .orderBy("remote_agent_id")
    .limit(param("limit")),
);

/** Lists all records page by page, for the graph in memory. */
export function listTrustPage(
  read: Reader,
  after: { agent_id: string; remote_agent_id: string },
  limit: number,
) {
  return read.all(selectAllRecords, { ...after, limit });
}

const historyByAgent = compile<{ agent_id: string }>()(
  queryBuilder.selectFrom("agent_histories").selectAll().where("agent_id", "=", param("agent_id")),
);

/** Returns undefined before the first counted task. */
export function findHistory(read: Reader, agent_id: string): Promise<AgentHistoryRow | undefined> {
  return read.get(historyByAgent, { agent_id });
}

const recordsWithFees = compile<{ agent_id: string }>()(
  queryBuilder
    .selectFrom("trust_records")
    .selectAll()
    .where("agent_id", "=", param("agent_id"))
    .where("fees_kept", ">", sql.lit(ZERO))
    .orderBy("fees_kept", "desc")
    .orderBy("remote_agent_id"),
);

/** Lists the records of a payer that left fees, the largest sums first. */
export function listRecordsWithFees(read: Reader, agent_id: string): Promise<TrustRecordRow[]> {
  return read.all(recordsWithFees, { agent_id });
}
