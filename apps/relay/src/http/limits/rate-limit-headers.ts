import { limits } from "@agent/wire";
import type { RateDecision } from "./rate-limit.ts";

/** How much of its limit a caller has left, in the two forms that clients read; times in seconds. */
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
