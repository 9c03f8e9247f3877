import type { Log } from "./log.ts";

/**
 * Clock, randomness, network and log: all code that is not a pure function receives them from here.
 */
export interface Runtime {
  /** Milliseconds since the Unix epoch. */
  readonly now: () => number;
  readonly randomBytes: (count: number) => Uint8Array;
  readonly fetch: typeof fetch;
  /** Runs `task` once after `ms`; the returned function cancels it. */
  readonly schedule: (ms: number, task: () => void) => () => void;
  /** Runs `task` after the events that have already arrived are handled. */
  readonly afterTurn: (task: () => void) => void;
  readonly log: Log;
}

/** Resolves after `ms`. */
export function sleep({ schedule }: Pick<Runtime, "schedule">, ms: number): Promise<void> {
  return new Promise((resolve) => void schedule(ms, resolve));
}

/** Creates the runtime of a real process. */
export function createSystemRuntime(log: Log): Runtime {
  return {
    now: Date.now,
    randomBytes: (count) => crypto.getRandomValues(new Uint8Array(count)),
    fetch,
    schedule(ms, task) {
      const timer = setTimeout(task, ms);
      return () => clearTimeout(timer);
    },
    afterTurn: (task) => void setImmediate(task),
    log,
  };
}
