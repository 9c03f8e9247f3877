import type { FreezeReport } from "@agent/wire";
import type { Freezer } from "./freeze.ts";

/** Builds the operator's report on the freeze. */
export function getFreezeReport({ frozen }: Pick<Freezer, "frozen">): FreezeReport {
  const state = frozen();
  return {
    frozen: state !== undefined,
    reason: state?.reason ?? null,
    since: state?.since ?? null,
    by: state?.by ?? null,
    restored: state?.restored ?? false,
  };
}
