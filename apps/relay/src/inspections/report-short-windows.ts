import type { Config } from "../config/config.ts";
import { DEFAULT_MIN_WINDOW_MS } from "../config/variables/fee-variables.ts";
import type { Log } from "../observability/log.ts";

/** Warns the operator at the start if agents may agree on inspections that are too short for a party to answer. */
export function reportShortWindows({ disputes }: Pick<Config, "disputes">, log: Log): void {
  const { windowMinMs } = disputes;
  if (windowMinMs >= DEFAULT_MIN_WINDOW_MS) return;
  log.warn("disputes.short_window", { window_min_ms: windowMinMs });
}
