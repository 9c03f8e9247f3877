import { HALF_SCORE_LATENCY_MS, DEFAULT_SUCCESS_RATE } from "./score.ts";
import { getTrustScore } from "../trust/trust-level.ts";
import { DEFAULT_WEIGHTS } from "../weights.ts";

/** The record of an agent that has executed tasks. */
export interface WorkRecord {
  readonly successes: number;
  /** Successes and failures. */
  readonly counted: number;
  /** The score of its trust level, 0..1. */
  readonly trustScore: number;
  /** The mean latency in ms; null if never measured. */
  readonly measuredMs: number | null;
  /** The latency that its listing promises, in ms; null if it promises none. */
  readonly promisedMs: number | null;
}

/**
 * Computes the latency that an agent with a record is scored by, in ms: the measured one. If it has more
 * successes than failures, the latency is bounded so that the agent keeps half of its lead over a newcomer
 * with the same listing, whose promise has not been measured yet. Otherwise a slow agent would gain by
 * taking a new id.
 */
export function computeRecordLatency(record: WorkRecord): number | null {
  const { successes, counted, measuredMs, promisedMs } = record;
  if (measuredMs === null || 2 * successes <= counted) return measuredMs;
  const trust = Math.max(0, record.trustScore - getTrustScore("unknown"));
  const success = successes / counted - DEFAULT_SUCCESS_RATE;
  const lead = DEFAULT_WEIGHTS.trust * trust + DEFAULT_WEIGHTS.success_rate * success;
  const floor =
    scoreLatency(promisedMs ?? HALF_SCORE_LATENCY_MS) - lead / 2 / DEFAULT_WEIGHTS.latency;
  return scoreLatency(measuredMs) >= floor ? measuredMs : HALF_SCORE_LATENCY_MS * (1 / floor - 1);
}

function scoreLatency(latencyMs: number): number {
  return HALF_SCORE_LATENCY_MS / (HALF_SCORE_LATENCY_MS + latencyMs);
}
