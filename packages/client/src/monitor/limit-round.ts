import type { Environment } from "../environment.ts";

/** Half of the hour after which the next round is due. */
const ROUND_MS = 1_800_000;

/**
 * Runs a round whose requests all fail once its time is over. A log can sign a tree of 2^52 entries that are
 * all the same, and serve it without storing it, so a limit for each request alone would not end the round.
 */
export async function limitRound<Result>(
  environment: Pick<Environment, "fetch" | "schedule">,
  round: (limited: Pick<Environment, "fetch">) => Promise<Result>,
): Promise<Result> {
  const ending = new AbortController();
  const cancel = environment.schedule(ROUND_MS, () => ending.abort());
  const limitedFetch: Environment["fetch"] = async (input, init = {}) => {
    ending.signal.throwIfAborted();
    const signals = [ending.signal, ...(init.signal ? [init.signal] : [])];
    return environment.fetch(input, { ...init, signal: AbortSignal.any(signals) });
  };
  try {
    return await round({ fetch: limitedFetch });
  } finally {
    cancel();
  }
}
