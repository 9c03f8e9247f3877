/** Network, time, chance and timers, replaceable so that a client runs on any clock and any transport. */
export interface Environment {
  readonly fetch: typeof fetch;
  /** Milliseconds since the Unix epoch. */
  readonly now: () => number;
  /** Unpredictable bytes: ids of tokens are made of them. */
  readonly randomBytes: (length: number) => Uint8Array;
  /** Runs `task` once after `ms`; the returned function cancels it. */
  readonly schedule: (ms: number, task: () => void) => () => void;
}

const platform: Environment = {
  // Called as a function of the platform: some refuse to be a method of another object.
  fetch: (input, init) => fetch(input, init),
  now: () => Date.now(),
  randomBytes: (length) => crypto.getRandomValues(new Uint8Array(length)),
  schedule: (ms, task) => {
    const timer = setTimeout(task, ms);
    return () => clearTimeout(timer);
  },
};

/** The given parts, and the platform's own where one is left out. */
export function createEnvironment(overrides: Partial<Environment>): Environment {
  return {
    fetch: overrides.fetch ?? platform.fetch,
    now: overrides.now ?? platform.now,
    randomBytes: overrides.randomBytes ?? platform.randomBytes,
    schedule: overrides.schedule ?? platform.schedule,
  };
}
