import { fullJitter, type CallRefusal } from "@agent/client";
import type { Runtime } from "../runtime.ts";

const BASE_DELAY_MS = 500;

/**
 * Returns the delay after failed attempt `attempt` (from 0): the relay's Retry-After plus a jitter.
 */
export function retryDelayMs(
  attempt: number,
  refusal: Pick<CallRefusal, "retryAfterSeconds">,
  { runtime, capMs }: { runtime: Pick<Runtime, "randomBytes">; capMs: number },
): number {
  const floorMs = (refusal.retryAfterSeconds ?? 0) * 1_000;
  return floorMs + fullJitter(attempt, { baseMs: BASE_DELAY_MS, capMs }, runtime.randomBytes);
}
