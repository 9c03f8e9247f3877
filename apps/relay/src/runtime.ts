import { uuidV7 } from "@agent/crypto";
import type { RelayClock } from "./clock/relay-clock.ts";

/** Time, randomness and timers. Only main.ts has the real ones, so tests can run on a manual clock. */
export interface Runtime {
  /** Milliseconds since the Unix epoch. */
  readonly now: () => number;
  /** The clock behind `now`; without it every value of `now` is trusted. */
  readonly clock?: RelayClock;
  /**
   * A monotonic time in ms, from which a process knows that others may consider it dead; without it the
   * process never does.
   */
  readonly monotonic?: () => number;
  readonly randomBytes: (length: number) => Uint8Array;
  /** Runs `task` after `ms`; the returned function cancels it. */
  readonly schedule: (ms: number, task: () => void) => () => void;
}

/** Creates an id of a time in milliseconds, by default of now. */
export function newId(
  runtime: Pick<Runtime, "now" | "randomBytes">,
  time: number = runtime.now(),
): string {
  return uuidV7(time, runtime.randomBytes(10));
}
