/** Why the target of a submission gets no task. */
export type TargetRefusal = "task.target_blocked" | "task.no_candidate";

/**
 * Whether the agent that a submission names may be given the task, and at which price
 * (docs/decisions.md, 4). Refused: `task.target_blocked`, `task.no_candidate` (the submitter excludes
 * the agent, or the agent does not sell the task).
 */
export function checkTargetEligibility<Price extends number>({
  isBlocked,
  isExcluded,
  price,
}: {
  /** By the agent that pays. */
  readonly isBlocked: boolean;
  /** By the submission itself. */
  readonly isExcluded: boolean;
  /** Null where the agent does not sell a task with the required capabilities. */
  readonly price: Price | null;
}):
  | { readonly ok: true; readonly price: Price }
  | { readonly ok: false; readonly code: TargetRefusal } {
  if (isBlocked) return { ok: false, code: "task.target_blocked" };
  if (isExcluded || price === null) return { ok: false, code: "task.no_candidate" };
  return { ok: true, price };
}
