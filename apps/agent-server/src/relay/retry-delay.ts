import { fullJitter, getRequestedWaitMs, type CallRefusal } from "@agent/client";
import type { Runtime } from "../runtime.ts";

const BASE_DELAY_MS = 500;

/**
 * Returns the delay after failed attempt `attempt` (from 0): at most a minute of Retry-After plus a jitter.
 */
export function retryDelayMs(
  attempt: number,
  refusal: Pick<CallRefusal, "retryAfterSeconds">,
  { runtime, capMs }: { runtime: Pick<Runtime, "randomBytes">; capMs: number },
): number {
  const jitterMs = fullJitter(attempt, { baseMs: BASE_DELAY_MS, capMs }, runtime.randomBytes);
  return getRequestedWaitMs(refusal) + jitterMs;
}
