/** How far a goal has come (docs/decisions.md, 9). */
export const LEDGER_STATUSES = ["active", "completed", "failed", "paused"] as const;
export type LedgerStatus = (typeof LEDGER_STATUSES)[number];

/** How far a step has come (docs/decisions.md, 9). */
export const STEP_STATUSES = [
  "pending",
  "running",
  "completed",
  "failed",
  "delegated",
  "skipped",
] as const;
export type StepStatus = (typeof STEP_STATUSES)[number];

/** Whether a step of this status was ever begun. */
export function hasRun(status: StepStatus): boolean {
  return status !== "pending" && status !== "skipped";
}
