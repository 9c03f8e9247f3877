import type { ManualClock } from "@agent/testkit";
import type { Reader, Storage } from "../../src/storage/storage.ts";

const MAX_STEPS = 10;
const MIN_STEP_MS = 1_000;

let pending = 0;

/** Returns how many reads and transactions of this process's relays are still waiting for a server. */
export const countPendingWork = (): number => pending;

async function count<T>(work: Promise<T>): Promise<T> {
  pending += 1;
  try {
    return await work;
  } finally {
    pending -= 1;
  }
}

const countReads = (read: Reader): Reader => ({
  get: (query, params) => count(read.get(query, params)),
  all: (query, params) => count(read.all(query, params)),
});

/** Returns the same storage, which counts its work while it runs. */
export function countWork(storage: Storage): Storage {
  return {
    ...storage,
    read: countReads(storage.read),
    reserved: countReads(storage.reserved),
    runAlone: (query, params) => count(storage.runAlone(query, params)),
    transaction: (work, isolation) => count(storage.transaction(work, isolation)),
    snapshot: (work) => count(storage.snapshot(work)),
  };
}

/** Returns the same clock, which lets the server answer the jobs of one step before the next step. */
export function waitForServer(clock: ManualClock): ManualClock {
  return {
    ...clock,
    async advance(ms) {
      const step = Math.max(MIN_STEP_MS, Math.ceil(ms / MAX_STEPS));
      for (let left = ms; left > 0; left -= step) {
        await clock.advance(Math.min(left, step));
        for (let quiet = 0; quiet < 3;) {
          await new Promise((resolve) => setImmediate(resolve));
          quiet = pending === 0 ? quiet + 1 : 0;
        }
      }
    },
  };
}
