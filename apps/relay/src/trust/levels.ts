import { nextTrustLevel, trustScore, type TrustLevel } from "@agent/routing-semiring";
import type { TrustRecord } from "@agent/wire";
import type { TrustRecordRow } from "../storage/tables.ts";

/** Levels as they are stored: an index, so that the store can order by it. */
export const levelNames = [
  "blocked",
  "unknown",
  "first_contact",
  "verified",
  "trusted",
] as const satisfies readonly TrustLevel[];

export const BLOCKED = 0;
export const UNKNOWN = 1;

export function levelName(level: number): TrustLevel {
  return levelNames[level] ?? "unknown";
}

/** The level of a record after its counts have changed (docs/decisions.md, 6). */
export function levelAfter(
  record: Pick<TrustRecordRow, "trust_level" | "successful_tasks" | "failed_tasks">,
): number {
  const { successful_tasks, failed_tasks } = record;
  return levelNames.indexOf(
    nextTrustLevel(levelName(record.trust_level), {
      successes: successful_tasks,
      failures: failed_tasks,
    }),
  );
}

export function scoreOf(level: number): number {
  return trustScore(levelName(level));
}

export function trustRecordOf(row: TrustRecordRow): TrustRecord {
  const counted = row.successful_tasks + row.failed_tasks;
  return {
    agent_id: row.agent_id,
    remote_agent_id: row.remote_agent_id,
    trust_level: levelName(row.trust_level),
    first_seen_at: row.first_seen_at,
    last_seen_at: row.last_seen_at,
    interaction_count: row.interaction_count,
    successful_tasks: row.successful_tasks,
    failed_tasks: row.failed_tasks,
    avg_latency_ms: counted === 0 ? null : row.latency_total_ms / counted,
    trust_score: scoreOf(row.trust_level),
  };
}
