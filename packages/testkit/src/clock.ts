interface Timer {
  readonly at: number;
  readonly task: () => unknown;
}

/** A clock that only advances when the test moves it. */
export interface ManualClock {
  /** Milliseconds since the Unix epoch. */
  readonly now: () => number;
  /** Runs `task` when the clock has moved by `ms`; the returned function cancels it. */
  readonly schedule: (ms: number, task: () => unknown) => () => void;
  /** The remaining delays of the active timers in ms, shortest first. */
  readonly pending: () => readonly number[];
  /**
   * Moves the clock and runs the timers that become due, each at its own time and in the order in which they
   * were set. Promises and I/O callbacks that a timer starts can run before the next timer.
   */
  readonly advance: (ms: number) => Promise<void>;
}

/** Creates a clock that starts at `start`, by default in October 2025. */
export function createManualClock(start = 1_760_000_000_000): ManualClock {
  let now = start;
  const timers = new Set<Timer>();
  // A stable sort keeps timers with the same time in the order in which they were set.
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
