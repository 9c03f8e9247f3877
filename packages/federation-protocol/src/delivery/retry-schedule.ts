import { FEDERATION_LIMITS } from "../limits.ts";

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;

/** The retry times of a message that must be delivered; all times in ms. */
export interface RetrySchedule {
  /** The pause after each attempt except the last, which ends the schedule. */
  readonly pauses: readonly number[];
  /** The maximum age of a forward that is accepted. */
  readonly lifetimeMs: number;
  /** The time after the last attempt beyond which no copy is accepted any more. */
  readonly settleDownMs: number;
  /** The time that the hold of a completed task waits for its settlement. */
  readonly holdMs: number;
}

/**
 * Creates the schedule of five retries after pauses of 30 s, 2 min, 8 min, 32 min and 2 h (specification,
 * "Settlement"); `scale` multiplies all times. The receiver's clock may be one lifetime behind, so the last
 * copy expires two lifetimes after the last attempt.
 */
export function createRetrySchedule(scale = 1): RetrySchedule {
  const pauses = [30 * SECOND_MS, 2 * MINUTE_MS, 8 * MINUTE_MS, 32 * MINUTE_MS, 120 * MINUTE_MS];
  const scaled = pauses.map((pause) => Math.round(pause * scale));
  const lifetimeMs = Math.round(FEDERATION_LIMITS.maxTimestampAgeMs * scale);
  const settleDownMs = 2 * lifetimeMs;
  const total = scaled.reduce((sum, pause) => sum + pause, 0);
  return { pauses: scaled, lifetimeMs, settleDownMs, holdMs: 2 * (total + settleDownMs) };
}
