import type { Config } from "../config.ts";

const dayMs = 86_400_000;

/** What was over by then is forgotten by `now`; null where everything is kept. */
export function forgottenUntil(
  { storage: { retentionDays } }: Pick<Config, "storage">,
  now: number,
): number | null {
  return retentionDays === 0 ? null : now - retentionDays * dayMs;
}
