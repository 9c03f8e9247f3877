import { queryBuilder, param, params, compile, sql } from "../storage/queries/compiled-query.ts";
import type { Reader, Tx } from "../storage/storage.ts";
import type { AgentHistoryRow, TrustRecordRow } from "../storage/tables/trust.ts";
import { BLOCKED } from "./levels.ts";

const selectRecord = compile<{ agent_id: string; remote_agent_id: string }>()(
  queryBuilder
    .selectFrom("trust_records")
    .selectAll()
    .where("agent_id", "=", param("agent_id"))
    .where("remote_agent_id", "=", param("remote_agent_id")),
);

export function findTrust(
  read: Reader,
  agent_id: string,
  remote_agent_id: string,
): Promise<TrustRecordRow | undefined> {
  return read.get(selectRecord, { agent_id, remote_agent_id });
}

const upsertRecord = compile<TrustRecordRow>()(
  queryBuilder
    .insertInto("trust_records")
    .values(
      params(
        "agent_id",
        "remote_agent_id",
        "trust_level",
        "first_seen_at",
        "last_seen_at",
        "interaction_count",
        "successful_tasks",
        "failed_tasks",
        "paid_tasks",
        "avg_latency_ms",
      ),
    )
    .onConflict((conflict) =>
      conflict.columns(["agent_id", "remote_agent_id"]).doUpdateSet((row) => ({
        trust_level: row.ref("excluded.trust_level"),
        last_seen_at: row.ref("excluded.last_seen_at"),
        interaction_count: row.ref("excluded.interaction_count"),
        successful_tasks: row.ref("excluded.successful_tasks"),
        failed_tasks: row.ref("excluded.failed_tasks"),
        paid_tasks: row.ref("excluded.paid_tasks"),
        avg_latency_ms: row.ref("excluded.avg_latency_ms"),
      })),
    ),
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

/** The increments of an executor's counters by a task. */
export type HistoryStep = Omit<AgentHistoryRow, "agent_id">;

const upsertHistory = compile<AgentHistoryRow>()(
  queryBuilder
    .insertInto("agent_histories")
    .values(
      params(
        "agent_id",
        "successful_tasks",
        "failed_tasks",
        "latency_total_ms",
        "free_successful_tasks",
        "free_failed_tasks",
        "free_latency_total_ms",
      ),
    )
    .onConflict((conflict) =>
      conflict.column("agent_id").doUpdateSet({
        successful_tasks: addExcluded("successful_tasks"),
        failed_tasks: addExcluded("failed_tasks"),
        latency_total_ms: addExcluded("latency_total_ms"),
        free_successful_tasks: addExcluded("free_successful_tasks"),
        free_failed_tasks: addExcluded("free_failed_tasks"),
        free_latency_total_ms: addExcluded("free_latency_total_ms"),
      }),
    ),
);

function addExcluded(counter: keyof HistoryStep) {
  return sql<number>`${sql.ref(`agent_histories.${counter}`)} + ${sql.ref(`excluded.${counter}`)}`;
}

/** Adds a task to an executor's history. */
export async function addToHistory(tx: Tx, step: AgentHistoryRow): Promise<void> {
  await tx.run(upsertHistory, step);
}

const historyByAgent = compile<{ agent_id: string }>()(
  queryBuilder.selectFrom("agent_histories").selectAll().where("agent_id", "=", param("agent_id")),
);

/** Returns undefined before the first counted task. */
export function findHistory(read: Reader, agent_id: string): Promise<AgentHistoryRow | undefined> {
  return read.get(historyByAgent, { agent_id });
}
