import type { Config } from "../config/config.ts";

const DAY_MS = 86_400_000;

/** Returns the time before which ended rows are purged at `now`; null if all rows are kept. */
export function getRetentionCutoff(
  { storage: { retentionDays } }: Pick<Config, "storage">,
  now: number,
): number | null {
  return retentionDays === 0 ? null : now - retentionDays * DAY_MS;
}
