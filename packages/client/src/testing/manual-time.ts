import type { Environment } from "../environment.ts";

interface Timer {
  readonly at: number;
  readonly task: () => void;
}

export interface ManualTime extends Pick<Environment, "now" | "schedule"> {
  /** Returns the delays of the pending timers in ms, the next one first. */
  readonly pending: () => number[];
  /** Advances the clock and runs the timers that become due. */
  readonly advance: (ms: number) => void;
}

/** Creates a clock that only `advance` moves. */
export function createManualTime(start: number): ManualTime {
  let now = start;
  const timers = new Set<Timer>();
  const sortTimers = () => [...timers].toSorted((a, b) => a.at - b.at);
  return {
    now: () => now,
    schedule(ms, task) {
      const timer = { at: now + ms, task };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
    pending: () => sortTimers().map((timer) => timer.at - now),
    advance(ms) {
      const end = now + ms;
      for (let [next] = sortTimers(); next !== undefined && next.at <= end; [next] = sortTimers()) {
        now = next.at;
        timers.delete(next);
        next.task();
      }
      now = end;
    },
  };
}
