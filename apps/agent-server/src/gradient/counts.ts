/** How often something was tried, and how often that came to something. */
export interface Tries {
  readonly made: number;
  readonly good: number;
}

/** What an agent has counted since its process started. */
export interface Counts {
  readonly tasks: Tries;
  /** Calls of its own tools within tasks. */
  readonly toolCalls: Tries;
  readonly tools: { readonly offered: number; readonly used: number };
  readonly memories: number;
  /** Good: something related was remembered. */
  readonly recalls: Tries;
  /** Related memories that were recalled, and their confidence added up. */
  readonly recalled: { readonly items: number; readonly confidence: number };
  /** Good: the receipt says that the other agent completed the work. */
  readonly delegations: Tries;
  readonly heartbeats: Tries;
}

/** The part that the agent counts without a relay. */
export type OwnCounts = Omit<Counts, "delegations" | "heartbeats">;

export interface TriesCounter {
  count(isGood: boolean): void;
  tries(): Tries;
}

export function countTries(): TriesCounter {
  let made = 0;
  let good = 0;
  return {
    count(isGood) {
      made += 1;
      if (isGood) good += 1;
    },
    tries: () => ({ made, good }),
  };
}
