import { uuidV7 } from "@agent/crypto";

/** Time, chance and timers: only main.ts has the real ones, so that a relay runs on any clock. */
export interface Runtime {
  /** Milliseconds since the Unix epoch. */
  readonly now: () => number;
  readonly randomBytes: (length: number) => Uint8Array;
  /** Runs `task` after `ms`; the returned function cancels it. */
  readonly schedule: (ms: number, task: () => void) => () => void;
}

export function newId(runtime: Pick<Runtime, "now" | "randomBytes">): string {
  return uuidV7(runtime.now(), runtime.randomBytes(10));
}
