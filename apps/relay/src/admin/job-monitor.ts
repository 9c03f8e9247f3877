/** The state of a background job. */
export interface JobState {
  readonly job: string;
  /** The time since its last success, or since its first run. */
  readonly ageMs: number;
  readonly failures: number;
  readonly isOverdue: boolean;
}

/** Records the runs of the background jobs. */
export interface JobMonitor {
  recordRun(job: { readonly name: string; readonly everyMs: number }, ok: boolean): void;
  /** Forgets a job that another process runs now. */
  delete(name: string): void;
  /** Restarts the ages of all jobs after a freeze. */
  resetAges(): void;
  listStates(): readonly JobState[];
}

interface JobEntry {
  readonly everyMs: number;
  ageStartsAt: number;
  succeeded: boolean;
  failures: number;
}

/** A job may miss a few rounds, because another job can make a round slow. */
const MAX_MISSED_ROUNDS = 3;
const MIN_OVERDUE_MS = 60_000;

export function createJobMonitor(now: () => number): JobMonitor {
  const entries = new Map<string, JobEntry>();
  return {
    recordRun({ name, everyMs }, ok) {
      const entry = entries.get(name) ?? {
        everyMs,
        ageStartsAt: now(),
        succeeded: false,
        failures: 0,
      };
      entries.set(name, entry);
      if (ok) {
        entry.ageStartsAt = now();
        entry.succeeded = true;
      } else entry.failures += 1;
    },
    delete: (name) => void entries.delete(name),
    resetAges() {
      for (const entry of entries.values()) entry.ageStartsAt = now();
    },
    listStates: () =>
      [...entries].map(([job, { everyMs, ageStartsAt, succeeded, failures }]) => {
        const ageMs = now() - ageStartsAt;
        // A job that runs once must only have succeeded.
        const rounds =
          everyMs === Infinity ? (succeeded ? Infinity : 0) : everyMs * MAX_MISSED_ROUNDS;
        return { job, ageMs, failures, isOverdue: ageMs > Math.max(rounds, MIN_OVERDUE_MS) };
      }),
  };
}
