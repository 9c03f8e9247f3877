import { limits } from "@agent/wire";
import type { RateDecision } from "./rate-limit.ts";

/** Builds the headers of a caller's limit in the two common forms; times in seconds. */
export function buildRateLimitHeaders(
  tier: string,
  decision: RateDecision,
): Record<string, string> {
  const { limit, remaining, resetSeconds } = decision;
  if (limit === Infinity) return {};
  return {
    "ratelimit-limit": String(limit),
    "ratelimit-remaining": String(remaining),
    "ratelimit-reset": String(resetSeconds),
    ratelimit: `"${tier}";r=${remaining};t=${resetSeconds}`,
    "ratelimit-policy": `"${tier}";q=${limit};w=${limits.rateWindowMs / 1_000}`,
  };
}
