import { computeNextLevel, type TrustLevel, getTrustScore } from "./trust-level.ts";

/** A delegator's record of an executor; times in ms since the Unix epoch. */
export interface TrustRecord {
  readonly agent_id: string;
  readonly remote_agent_id: string;
  readonly trust_level: TrustLevel;
  /** The score of the level, 0..1. */
  readonly trust_score: number;
  readonly interaction_count: number;
  readonly successful_tasks: number;
  readonly failed_tasks: number;
  /** The mean over the successful tasks; null before the first. */
  readonly avg_latency_ms: number | null;
  readonly first_seen_at: number;
  readonly last_seen_at: number;
}

/** The outcome of a task; `latencyMs` is by the relay's own clock, never by the executor's. */
export interface TaskOutcome {
  /** Only `completed` is a success and only `failed` a failure; see `getCountedStatus`. */
  readonly status: "completed" | "failed" | "denied" | "partial" | "refunded" | "unsettled";
  readonly latencyMs: number;
  readonly now: number;
}

/** Creates the record of two agents before their first task. */
export function createTrustRecord(
  agentId: string,
  remoteAgentId: string,
  now: number,
): TrustRecord {
  return {
    agent_id: agentId,
    remote_agent_id: remoteAgentId,
    trust_level: "unknown",
    trust_score: getTrustScore("unknown"),
    interaction_count: 0,
    successful_tasks: 0,
    failed_tasks: 0,
    avg_latency_ms: null,
    first_seen_at: now,
    last_seen_at: now,
  };
}

/**
 * Returns the record after one more task, with the level of `computeNextLevel`. A task that is neither
 * `completed` nor `failed` counts only as an interaction, not as a success or a failure.
 */
export function applyTaskOutcome(record: TrustRecord, outcome: TaskOutcome): TrustRecord {
  const { status, latencyMs, now } = outcome;
  const updated = {
    ...record,
    interaction_count: record.interaction_count + 1,
    last_seen_at: Math.max(record.last_seen_at, now),
  };
  if (status !== "completed" && status !== "failed") return updated;
  const successes = record.successful_tasks + (status === "completed" ? 1 : 0);
  const failures = record.failed_tasks + (status === "failed" ? 1 : 0);
  return {
    ...updated,
    ...toLevelMembers(computeNextLevel(record.trust_level, status, successes, failures)),
    successful_tasks: successes,
    failed_tasks: failures,
    avg_latency_ms:
      status === "completed"
        ? updateMean(record.avg_latency_ms, latencyMs, successes)
        : record.avg_latency_ms,
  };
}

/**
 * Returns the record after the payment of a task that was counted as `unsettled`: the success is counted,
 * and the interaction is not counted again.
 */
export function applyPayment(
  record: TrustRecord,
  { latencyMs, now }: Omit<TaskOutcome, "status">,
): TrustRecord {
  const { interaction_count } = record;
  return {
    ...applyTaskOutcome(record, { status: "completed", latencyMs, now }),
    interaction_count,
  };
}

/**
 * Returns the record with a manually set level. Blocking is final: any other level for a blocked agent is
 * refused with `trust.blocked`.
 */
export function setTrustLevel(
  record: TrustRecord,
  level: TrustLevel,
): { ok: true; record: TrustRecord } | { ok: false; code: "trust.blocked" } {
  return record.trust_level === "blocked" && level !== "blocked"
    ? { ok: false, code: "trust.blocked" }
    : { ok: true, record: { ...record, ...toLevelMembers(level) } };
}

function toLevelMembers(level: TrustLevel) {
  return { trust_level: level, trust_score: getTrustScore(level) };
}

function updateMean(mean: number | null, value: number, count: number): number {
  return mean === null ? value : mean + (value - mean) / count;
}
