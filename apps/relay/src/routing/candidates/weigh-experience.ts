import { computeRecordLatency } from "@agent/routing-semiring";
import { BLOCKED, scoreOfLevel } from "../../trust/levels.ts";
import type { TaskHistory } from "./agent-facts.ts";

/** The knowledge that one asker has of an agent by its own tasks. */
export interface AskerRecord extends TaskHistory {
  readonly trust_level: number;
}

/** The facts about an agent that count for an asker without experience of it. */
export interface OthersFacts {
  /** From 0 to 1. */
  readonly trust: number;
  readonly history: TaskHistory;
  /** The latency that is promised for the agent, in ms; null without a promise. */
  readonly promisedLatencyMs: number | null;
}

/** The members of a candidate that depend on experience. */
export interface Experience {
  readonly trust_score: number;
  readonly blocked: boolean;
  readonly successes: number;
  readonly counted: number;
  readonly avg_latency_ms: number | null;
}

/** The history of an agent of which no counted task is known. */
export const NO_HISTORY: TaskHistory = { successes: 0, counted: 0, avg_latency_ms: null };

/**
 * Weighs an asker's own experience of an agent against what others state: its own record states the level, and the
 * history as soon as a task of its own has counted. `reach` is the trust, from 0 to 1, in those through whom
 * the agent is reached.
 */
export function weighExperience(
  record: AskerRecord | undefined,
  others: OthersFacts,
  reach = 1,
): Experience {
  const trust_score =
    record === undefined ? others.trust : scoreOfLevel(record.trust_level) * reach;
  const history = record !== undefined && record.counted > 0 ? record : others.history;
  const { successes, counted, avg_latency_ms: measuredMs } = history;
  return {
    trust_score,
    blocked: record?.trust_level === BLOCKED,
    successes,
    counted,
    avg_latency_ms: computeRecordLatency({
      successes,
      counted,
      trustScore: trust_score,
      measuredMs,
      promisedMs: others.promisedLatencyMs,
    }),
  };
}
