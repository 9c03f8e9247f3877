/** Network, clock, randomness and timers, replaceable so that a client runs on any clock and transport. */
export interface Environment {
  readonly fetch: typeof fetch;
  /** Milliseconds since the Unix epoch. */
  readonly now: () => number;
  /** Returns unpredictable bytes, used for the ids of tokens. */
  readonly randomBytes: (length: number) => Uint8Array;
  /** Runs `task` once after `ms`; the returned function cancels it. */
  readonly schedule: (ms: number, task: () => void) => () => void;
}

const platform: Environment = {
  // Some platforms reject `fetch` as a method of another object.
  fetch: (input, init) => fetch(input, init),
  now: () => Date.now(),
  randomBytes: (length) => crypto.getRandomValues(new Uint8Array(length)),
  schedule: (ms, task) => {
    const timer = setTimeout(task, ms);
    return () => clearTimeout(timer);
  },
};

/** Creates an environment of the given parts and the platform's own for the others. */
export function createEnvironment(overrides: Partial<Environment>): Environment {
  return {
    fetch: overrides.fetch ?? platform.fetch,
    now: overrides.now ?? platform.now,
    randomBytes: overrides.randomBytes ?? platform.randomBytes,
    schedule: overrides.schedule ?? platform.schedule,
  };
}
