/** Network, clock, randomness and timers, which can be replaced to run a client with other ones. */
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

/** Creates an environment from the given parts, with the platform's own for the others. */
export function createEnvironment(overrides: Partial<Environment>): Environment {
  return {
    fetch: overrides.fetch ?? platform.fetch,
    now: overrides.now ?? platform.now,
    randomBytes: overrides.randomBytes ?? platform.randomBytes,
    schedule: overrides.schedule ?? platform.schedule,
  };
}
