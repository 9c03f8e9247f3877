import type { Caller } from "../caller.ts";
import type { WorkTask } from "../execution/task.ts";
import type { FindKnownLevel } from "./place-holder.ts";

/**
 * Returns the reason why a task of the relay must not run: the owner has blocked its submitter, which would
 * be refused if it called the agent directly. Undefined if the task may run.
 */
export function checkSubmitter(
  caller: Caller,
  { submittedBy }: Pick<WorkTask, "submittedBy">,
  findKnownLevel: FindKnownLevel = () => undefined,
): string | undefined {
  if (caller.kind !== "relay" || submittedBy === undefined) return undefined;
  return findKnownLevel(submittedBy) === "blocked"
    ? "The owner of this agent has blocked the submitter"
    : undefined;
}
