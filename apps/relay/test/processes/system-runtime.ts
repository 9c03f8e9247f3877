import type { Runtime } from "../../src/runtime.ts";

/** The clock, timers and randomness of the machine, for programs that tests start. */
export const systemRuntime = {
  now: Date.now,
  randomBytes: (count: number) => crypto.getRandomValues(new Uint8Array(count)),
  schedule: (ms: number, task: () => void) => {
    const timer = setTimeout(task, ms);
    return () => clearTimeout(timer);
  },
} satisfies Runtime;
