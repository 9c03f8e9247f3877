import type { Refusal } from "@agent/wire";
import type { Config } from "../config/config.ts";
import { refuseField } from "../http/server/validate.ts";

type LifetimeLimits = Pick<Config["tasks"], "ttlMs" | "ttlMaxMs">;

/** Returns the lifetime of a submitted task: the requested one, otherwise this relay's default. */
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
 * Returns the expiry of a peer's task: that of its origin, but at most this relay's maximum lifetime, so
 * that a peer cannot occupy slots and credit forever.
 */
export function calculateForwardedExpiry(
  expiresAt: number | undefined,
  now: number,
  { ttlMs, ttlMaxMs }: LifetimeLimits,
): number {
  return Math.min(expiresAt ?? now + ttlMs, now + ttlMaxMs);
}
