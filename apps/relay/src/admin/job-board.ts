/** How a background job has been doing. */
export interface JobState {
  readonly job: string;
  /** Since its last success, or since it was first tried. */
  readonly ageMs: number;
  readonly failures: number;
  readonly late: boolean;
}

/** Who asks after the background jobs finds them here. */
export interface JobBoard {
  ran(job: { readonly name: string; readonly everyMs: number }, ok: boolean): void;
  /** Nothing was due before now: the relay stood still. */
  excuse(): void;
  states(): readonly JobState[];
}

interface Entry {
  readonly everyMs: number;
  aliveAt: number;
  succeeded: boolean;
  failures: number;
}

/** A job may miss a few rounds, and a slow round is none of its own fault. */
const missedRounds = 3;
const leastPatienceMs = 60_000;

export function createJobBoard(now: () => number): JobBoard {
  const entries = new Map<string, Entry>();
  return {
    ran({ name, everyMs }, ok) {
      const entry = entries.get(name) ?? {
        everyMs,
        aliveAt: now(),
        succeeded: false,
        failures: 0,
      };
      entries.set(name, entry);
      if (ok) {
        entry.aliveAt = now();
        entry.succeeded = true;
      } else entry.failures += 1;
    },
    excuse() {
      for (const entry of entries.values()) entry.aliveAt = now();
    },
    states: () =>
      [...entries].map(([job, { everyMs, aliveAt, succeeded, failures }]) => {
        const ageMs = now() - aliveAt;
        // What runs once only has to have succeeded.
        const rounds = everyMs === Infinity ? (succeeded ? Infinity : 0) : everyMs * missedRounds;
        return { job, ageMs, failures, late: ageMs > Math.max(rounds, leastPatienceMs) };
      }),
  };
}
