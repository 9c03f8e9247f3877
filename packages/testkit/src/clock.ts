interface Timer {
  readonly at: number;
  readonly task: () => unknown;
}

/** A clock that stands still until it is moved. */
export interface ManualClock {
  /** Milliseconds since the Unix epoch. */
  readonly now: () => number;
  /** Runs `task` when the clock has moved by `ms`; the returned function cancels it. */
  readonly schedule: (ms: number, task: () => unknown) => () => void;
  /** The delays of the timers that are set, in ms from now, the next one first. */
  readonly pending: () => readonly number[];
  /**
   * Moves the clock and runs what comes due on the way, each at its own time and in the order in which
   * it was set; what a task starts, promises and I/O callbacks, gets a turn before the next one runs.
   */
  readonly advance: (ms: number) => Promise<void>;
}

/** Starts at `start`, by default in October 2025. */
export function createManualClock(start = 1_760_000_000_000): ManualClock {
  let now = start;
  const timers = new Set<Timer>();
  // A stable sort: of two timers for one moment the one that was set first comes first.
  const sortTimers = () => [...timers].toSorted((a, b) => a.at - b.at);
  return {
    now: () => now,
    schedule(ms, task) {
      const timer = { at: now + Math.max(0, ms), task };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
    pending: () => sortTimers().map(({ at }) => at - now),
    async advance(ms) {
      const end = now + ms;
      for (let [next] = sortTimers(); next !== undefined && next.at <= end; [next] = sortTimers()) {
        now = next.at;
        timers.delete(next);
        next.task();
        await nextTurn();
      }
      now = end;
      await nextTurn();
    },
  };
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
