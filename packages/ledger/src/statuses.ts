/** The progress of a goal (docs/decisions.md, 9). */
export const LEDGER_STATUSES = ["active", "completed", "failed", "paused"] as const;

/** A status of a goal or a plan. */
export type LedgerStatus = (typeof LEDGER_STATUSES)[number];

/** The progress of a step (docs/decisions.md, 9). */
export const STEP_STATUSES = [
  "pending",
  "running",
  "completed",
  "failed",
  "delegated",
  "skipped",
] as const;

/** A status of a step. */
export type StepStatus = (typeof STEP_STATUSES)[number];

/** Returns whether a step of this status has begun. */
export function hasRun(status: StepStatus): boolean {
  return status !== "pending" && status !== "skipped";
}
