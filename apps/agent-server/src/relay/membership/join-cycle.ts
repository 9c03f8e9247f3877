import type { Runtime } from "../../runtime.ts";
import { retryDelayMs } from "../retry-delay.ts";
import type { JoinResult } from "./join-relay.ts";

const MAX_REJOIN_DELAY_MS = 30_000;

/** A run that is repeated after an interval, or sooner while joining fails. */
export interface JoinCycle {
  /**
   * Runs at once and schedules the next run; returns the result of the attempt to join, if there
   * was one.
   */
  start(): Promise<JoinResult | undefined>;
  /**
   * Runs at once instead of at the scheduled time; returns false while it is running or after it
   * was stopped.
   */
  runNow(): boolean;
  stop(): void;
  readonly stopped: boolean;
}

export function createJoinCycle(parts: {
  /** Maintains the membership; returns the result of an attempt to join. */
  run: () => Promise<JoinResult | undefined>;
  intervalMs: number;
  runtime: Pick<Runtime, "schedule" | "randomBytes" | "log">;
}): JoinCycle {
  const { run, intervalMs, runtime } = parts;
  let running = false;
  let failures = 0;
  let stopped = false;
  let cancelNext = () => {};

  async function cycle(): Promise<JoinResult | undefined> {
    running = true;
    let result: JoinResult | undefined;
    try {
      result = await run();
    } catch (cause) {
      runtime.log("error", "relay.cycle_failed", { cause: String(cause) });
    }
    running = false;
    if (result?.ok === true) failures = 0;
    if (!stopped) cancelNext = runtime.schedule(delayAfter(result), () => void cycle());
    return result;
  }

  function delayAfter(result: JoinResult | undefined): number {
    if (result === undefined || result.ok) return intervalMs;
    return retryDelayMs(failures++, result, { runtime, capMs: MAX_REJOIN_DELAY_MS });
  }

  return {
    start: cycle,
    runNow() {
      if (running || stopped) return false;
      cancelNext();
      void cycle();
      return true;
    },
    stop() {
      stopped = true;
      cancelNext();
    },
    get stopped() {
      return stopped;
    },
  };
}
