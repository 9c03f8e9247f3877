import { limits } from "@agent/wire";
import { listClientLimits } from "./client-limits.ts";
import type { RateDecision, RateLimiter } from "./rate-limit.ts";

/** Decides one call of a client by the limit of its tier, and counts it in each of the client's networks. */
export function takeForClient(
  limiter: RateLimiter,
  { tier, limit }: { readonly tier: string; readonly limit: number },
  clientIp: string,
): RateDecision {
  return limiter.takeAll(
    limits.rateWindowMs,
    listClientLimits(clientIp, limit).map((one) => ({
      key: `${tier} ${one.network}`,
      tierLimit: one.limit,
    })),
  );
}
