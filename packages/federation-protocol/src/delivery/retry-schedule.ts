import { FEDERATION_LIMITS } from "../limits.ts";

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;

/** When something that has to arrive is tried again; all times in ms. */
export interface RetrySchedule {
  /** The pause after each attempt; one attempt more than pauses. */
  readonly pauses: readonly number[];
  /** How old a forward may be when it is taken. */
  readonly lifetimeMs: number;
  /** From the last attempt on, no copy of any attempt is taken any more after this long. */
  readonly settleDownMs: number;
  /** How long a completed task's hold waits for its settlement. */
  readonly holdMs: number;
}

/**
 * Five retries, 30 s, 2 min, 8 min, 32 min and 2 h after one another (specification, "Settlement"),
 * everything times `scale`. A copy lives for the age that is allowed, by a clock that may be as far
 * behind: twice that after the last attempt there is none left.
 */
export function createRetrySchedule(scale = 1): RetrySchedule {
  const pauses = [30 * SECOND_MS, 2 * MINUTE_MS, 8 * MINUTE_MS, 32 * MINUTE_MS, 120 * MINUTE_MS];
  const scaled = pauses.map((pause) => Math.round(pause * scale));
  const lifetimeMs = Math.round(FEDERATION_LIMITS.maxTimestampAgeMs * scale);
  const settleDownMs = 2 * lifetimeMs;
  const total = scaled.reduce((sum, pause) => sum + pause, 0);
  return { pauses: scaled, lifetimeMs, settleDownMs, holdMs: 2 * (total + settleDownMs) };
}
