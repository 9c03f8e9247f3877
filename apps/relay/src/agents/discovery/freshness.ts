import { MINUTE_MS } from "../../clock/durations.ts";
import type { Freshness } from "@agent/wire";

/** An agent is awake for less than this time after a sign of life. */
export const AWAKE_MS = 6 * MINUTE_MS;

/** Classifies the age of an agent's last heartbeat (docs/decisions.md, 3). */
export function getFreshness(lastSeenAt: number, now: number): Freshness {
  const age = now - lastSeenAt;
  if (age < AWAKE_MS) return "awake";
  if (age < 30 * MINUTE_MS) return "recent";
  return age < 24 * 60 * MINUTE_MS ? "dormant" : "cold";
}
