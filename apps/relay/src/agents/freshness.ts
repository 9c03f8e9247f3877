import type { Freshness } from "@agent/wire";

const MINUTE = 60_000;

/** How an agent's last sign of life reads now (docs/decisions.md, 3). */
export function freshnessOf(lastSeenAt: number, now: number): Freshness {
  const age = now - lastSeenAt;
  if (age < 6 * MINUTE) return "awake";
  if (age < 30 * MINUTE) return "recent";
  return age < 24 * 60 * MINUTE ? "dormant" : "cold";
}
