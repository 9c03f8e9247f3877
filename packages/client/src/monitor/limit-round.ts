import type { Environment } from "../environment.ts";

/** Half of the usual hour between two rounds. */
const ROUND_MS = 1_800_000;

/**
 * Runs a round, all of whose requests fail once its time is over. A log can sign a tree of 2^52 identical
 * entries and serve it without storing it, so a limit per request would not end the round.
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
