import { db, p, prepare, sql } from "../storage/prepared.ts";
import type { Reader, Tx } from "../storage/storage.ts";
import type { AgentHistoryRow, TrustRecordRow } from "../storage/tables/trust.ts";
import { BLOCKED } from "./levels.ts";

const recordOf = prepare<{ agent_id: string; remote_agent_id: string }>()(
  db
    .selectFrom("trust_records")
    .selectAll()
    .where("agent_id", "=", p("agent_id"))
    .where("remote_agent_id", "=", p("remote_agent_id")),
);

export function findTrust(
  read: Reader,
  agent_id: string,
  remote_agent_id: string,
): Promise<TrustRecordRow | undefined> {
  return read.get(recordOf, { agent_id, remote_agent_id });
}

const upsertRecord = prepare<TrustRecordRow>()(
  db
    .insertInto("trust_records")
    .values({
      agent_id: p("agent_id"),
      remote_agent_id: p("remote_agent_id"),
      trust_level: p("trust_level"),
      first_seen_at: p("first_seen_at"),
      last_seen_at: p("last_seen_at"),
      interaction_count: p("interaction_count"),
      successful_tasks: p("successful_tasks"),
      failed_tasks: p("failed_tasks"),
      paid_tasks: p("paid_tasks"),
      avg_latency_ms: p("avg_latency_ms"),
    })
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

export async function putTrust(tx: Tx, record: TrustRecordRow): Promise<void> {
  await tx.run(upsertRecord, record);
}

const recordsAbout = prepare<{ remote_agent_id: string }>()(
  db
    .selectFrom("trust_records")
    .select(["agent_id", "remote_agent_id", "trust_level"])
    .where("remote_agent_id", "=", p("remote_agent_id"))
    .where("trust_level", "!=", sql.lit(BLOCKED)),
);

const deleteRecordsAbout = prepare<{ remote_agent_id: string }>()(
  db
    .deleteFrom("trust_records")
    .where("remote_agent_id", "=", p("remote_agent_id"))
    .where("trust_level", "!=", sql.lit(BLOCKED)),
);

const deleteHistory = prepare<{ agent_id: string }>()(
  db.deleteFrom("agent_histories").where("agent_id", "=", p("agent_id")),
);

/** Which delegator's record is about which executor. */
export type TrustPair = Pick<TrustRecordRow, "agent_id" | "remote_agent_id">;

/** Deletes what tasks have told of an executor, and answers whose records these were. Blocks stay. */
export async function deleteStanding(tx: Tx, executorId: string): Promise<readonly TrustPair[]> {
  const about = { remote_agent_id: executorId };
  const pairs = await tx.all(recordsAbout, about);
  await tx.run(deleteRecordsAbout, about);
  await tx.run(deleteHistory, { agent_id: executorId });
  return pairs;
}

const recordsByAgent = prepare<{ agent_id: string; after: string; limit: number }>()(
  db
    .selectFrom("trust_records")
    .selectAll()
    .where("agent_id", "=", p("agent_id"))
    .where("remote_agent_id", ">", p("after"))
    .orderBy("remote_agent_id")
    .limit(p("limit")),
);

export function trustRecordsOf(
  read: Reader,
  query: { agent_id: string; after: string; limit: number },
): Promise<TrustRecordRow[]> {
  return read.all(recordsByAgent, query);
}

const everyRecord = prepare<{ agent_id: string; remote_agent_id: string; limit: number }>()(
  db
    .selectFrom("trust_records")
    .select(["agent_id", "remote_agent_id", "trust_level"])
    .where(sql<boolean>`(agent_id, remote_agent_id) > (${p("agent_id")}, ${p("remote_agent_id")})`)
    .orderBy("agent_id")
    .orderBy("remote_agent_id")
    .limit(p("limit")),
);

/** All records page by page, for the graph that is kept in memory. */
export function trustPage(
  read: Reader,
  after: { agent_id: string; remote_agent_id: string },
  limit: number,
) {
  return read.all(everyRecord, { ...after, limit });
}

/** What a task adds to the counters of an executor. */
export type HistoryStep = Omit<AgentHistoryRow, "agent_id">;

const countTask = prepare<AgentHistoryRow>()(
  db
    .insertInto("agent_histories")
    .values({
      agent_id: p("agent_id"),
      successful_tasks: p("successful_tasks"),
      failed_tasks: p("failed_tasks"),
      latency_total_ms: p("latency_total_ms"),
      free_successful_tasks: p("free_successful_tasks"),
      free_failed_tasks: p("free_failed_tasks"),
      free_latency_total_ms: p("free_latency_total_ms"),
    })
    .onConflict((conflict) =>
      conflict.column("agent_id").doUpdateSet({
        successful_tasks: sum("successful_tasks"),
        failed_tasks: sum("failed_tasks"),
        latency_total_ms: sum("latency_total_ms"),
        free_successful_tasks: sum("free_successful_tasks"),
        free_failed_tasks: sum("free_failed_tasks"),
        free_latency_total_ms: sum("free_latency_total_ms"),
      }),
    ),
);

function sum(counter: keyof HistoryStep) {
  return sql<number>`${sql.ref(`agent_histories.${counter}`)} + ${sql.ref(`excluded.${counter}`)}`;
}

/** Adds a task to what the relay knows of an executor. */
export async function addToHistory(tx: Tx, step: AgentHistoryRow): Promise<void> {
  await tx.run(countTask, step);
}

const historyByAgent = prepare<{ agent_id: string }>()(
  db.selectFrom("agent_histories").selectAll().where("agent_id", "=", p("agent_id")),
);

/** Undefined before the first counted task. */
export function findHistory(read: Reader, agent_id: string): Promise<AgentHistoryRow | undefined> {
  return read.get(historyByAgent, { agent_id });
}
