/** Refusals of the target of a submission. */
export type TargetRefusal = "task.target_blocked" | "task.no_candidate";

/**
 * Checks whether the target of a submission may receive the task, and returns its price
 * (docs/decisions.md, 4). Refused with `task.target_blocked`, or with `task.no_candidate` if the
 * submitter excludes the agent or the agent does not offer the task.
 */
export function checkTargetEligibility<Price extends number>({
  isBlocked,
  isExcluded,
  price,
}: {
  /** Blocked by the paying agent. */
  readonly isBlocked: boolean;
  /** Excluded by the submission. */
  readonly isExcluded: boolean;
  /** Null if the agent does not offer a task with the required capabilities. */
  readonly price: Price | null;
}):
  | { readonly ok: true; readonly price: Price }
  | { readonly ok: false; readonly code: TargetRefusal } {
  if (isBlocked) return { ok: false, code: "task.target_blocked" };
  if (isExcluded || price === null) return { ok: false, code: "task.no_candidate" };
  return { ok: true, price };
}
