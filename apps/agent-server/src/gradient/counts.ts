/** How often something was tried, and how often that came to something. */
export interface Attempts {
  readonly total: number;
  readonly succeeded: number;
}

/** What an agent has counted since its process started. */
export interface Counts {
  readonly tasks: Attempts;
  /** Calls of its own tools within tasks. */
  readonly toolCalls: Attempts;
  readonly tools: { readonly offered: number; readonly used: number };
  readonly memories: number;
  /** Good: something related was remembered. */
  readonly recalls: Attempts;
  /** Related memories that were recalled, and their confidence added up. */
  readonly recalled: { readonly items: number; readonly confidence: number };
  /** Good: the receipt says that the other agent completed the work. */
  readonly delegations: Attempts;
  readonly heartbeats: Attempts;
}

/** The part that the agent counts without a relay. */
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
