import type { Runtime } from "../../runtime.ts";
import { retryDelayMs } from "../retry-delay.ts";
import type { JoinResult } from "./join-relay.ts";

const MAX_REJOIN_DELAY_MS = 30_000;

/** A run that comes again after an interval, or sooner while joining fails. */
export interface JoinCycle {
  /** Runs at once and schedules the next run; the result is that of an attempt to join, where there was one. */
  start(): Promise<JoinResult | undefined>;
  /** Runs at once instead of when it is due; false: it is running, or has been stopped. */
  hurry(): boolean;
  stop(): void;
  readonly stopped: boolean;
}

export function createJoinCycle(parts: {
  /** Looks after the membership; an attempt to join gives its result. */
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
    hurry() {
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
