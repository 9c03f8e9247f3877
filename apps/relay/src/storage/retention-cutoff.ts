import type { Config } from "../config.ts";

const DAY_MS = 86_400_000;

/** What was over by then is forgotten by `now`; null where everything is kept. */
export function getRetentionCutoff(
  { storage: { retentionDays } }: Pick<Config, "storage">,
  now: number,
): number | null {
  return retentionDays === 0 ? null : now - retentionDays * DAY_MS;
}
