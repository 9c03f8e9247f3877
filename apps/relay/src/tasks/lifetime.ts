import type { Refusal } from "@agent/wire";
import type { Config } from "../config.ts";
import { refuseField } from "../http/server/validate.ts";

type LifetimeLimits = Pick<Config["tasks"], "ttlMs" | "ttlMaxMs">;

/** How long a submitted task lives: as long as it asks for, else the time of this relay. */
export function checkLifetime(
  requestedMs: number | undefined,
  { ttlMs, ttlMaxMs }: LifetimeLimits,
): { readonly ok: true; readonly lifetimeMs: number } | Refusal<"request.invalid"> {
  if (requestedMs !== undefined && requestedMs > ttlMaxMs) {
    return refuseField("ttl_ms", `must be at most ${ttlMaxMs}`);
  }
  return { ok: true, lifetimeMs: requestedMs ?? ttlMs };
}

/**
 * When a task of a peer ends here: with the task of its origin, but not later than the longest task of
 * this relay, so that no peer keeps places and credit taken for ever.
 */
export function calculateForwardedExpiry(
  expiresAt: number | undefined,
  now: number,
  { ttlMs, ttlMaxMs }: LifetimeLimits,
): number {
  return Math.min(expiresAt ?? now + ttlMs, now + ttlMaxMs);
}
