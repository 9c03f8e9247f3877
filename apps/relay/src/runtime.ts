import { uuidV7 } from "@agent/crypto";
import type { RelayClock } from "./clock/relay-clock.ts";

/** Time, chance and timers: only main.ts has the real ones, so that a relay runs on any clock. */
export interface Runtime {
  /** Milliseconds since the Unix epoch. */
  readonly now: () => number;
  /** Where `now` comes from; without it all that `now` shows counts. */
  readonly clock?: RelayClock;
  readonly randomBytes: (length: number) => Uint8Array;
  /** Runs `task` after `ms`; the returned function cancels it. */
  readonly schedule: (ms: number, task: () => void) => () => void;
}

export function newId(runtime: Pick<Runtime, "now" | "randomBytes">): string {
  return uuidV7(runtime.now(), runtime.randomBytes(10));
}
