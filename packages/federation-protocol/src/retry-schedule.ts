import { FEDERATION_LIMITS } from "./limits.ts";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

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
export function retrySchedule(scale = 1): RetrySchedule {
  const pauses = [30 * SECOND, 2 * MINUTE, 8 * MINUTE, 32 * MINUTE, 120 * MINUTE];
  const scaled = pauses.map((pause) => Math.round(pause * scale));
  const lifetimeMs = Math.round(FEDERATION_LIMITS.timestampAgeMs * scale);
  const settleDownMs = 2 * lifetimeMs;
  const total = scaled.reduce((sum, pause) => sum + pause, 0);
  return { pauses: scaled, lifetimeMs, settleDownMs, holdMs: 2 * (total + settleDownMs) };
}
