/** The number of attempts, and of those that succeeded. */
export interface Attempts {
  readonly total: number;
  readonly succeeded: number;
}

/** The counts of an agent since its process started. */
export interface Counts {
  readonly tasks: Attempts;
  /** Calls of the agent's own tools within tasks. */
  readonly toolCalls: Attempts;
  readonly tools: { readonly offered: number; readonly used: number };
  readonly memories: number;
  /** A recall succeeds when it finds a related memory. */
  readonly recalls: Attempts;
  /** The number of related memories that were recalled, and the sum of their confidence. */
  readonly recalled: { readonly items: number; readonly confidence: number };
  /** A delegation succeeds when the receipt states that the other agent completed the work. */
  readonly delegations: Attempts;
  readonly heartbeats: Attempts;
}

/** The counts that need no relay. */
export type LocalCounts = Omit<Counts, "delegations" | "heartbeats">;

export interface AttemptCounter {
  record(isSuccess: boolean): void;
  attempts(): Attempts;
}

export function createAttemptCounter(): AttemptCounter {
  let total = 0;
  let succeeded = 0;
  return {
    record(isSuccess) {
      total += 1;
      if (isSuccess) succeeded += 1;
    },
    attempts: () => ({ total, succeeded }),
  };
}
