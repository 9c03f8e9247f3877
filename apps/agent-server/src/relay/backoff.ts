import type { CallRefusal } from "@agent/client";
import type { Runtime } from "../runtime.ts";

const baseMs = 500;

/**
 * How long to wait after failed try `attempt` (from 0): what the relay asked for, and on top of it any
 * time up to a bound that doubles, so that agents which lost one relay do not return all at once.
 */
export function retryDelayMs(
  attempt: number,
  refusal: Pick<CallRefusal, "retryAfterSeconds">,
  { runtime, capMs }: { runtime: Pick<Runtime, "randomBytes">; capMs: number },
): number {
  const [high = 0, low = 0] = runtime.randomBytes(2);
  const share = (high * 256 + low) / 65_536;
  const jitter = share * Math.min(capMs, baseMs * 2 ** attempt);
  return (refusal.retryAfterSeconds ?? 0) * 1_000 + Math.ceil(jitter);
}
