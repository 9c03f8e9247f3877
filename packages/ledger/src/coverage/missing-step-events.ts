import type { LedgerEvent } from "../events.ts";
import type { DelegatedTask } from "../records.ts";
import type { LedgerStep } from "../schema.ts";
import { hasRun } from "../statuses.ts";
import { hasEnded, type StepHistory } from "../reconstruction/step-history.ts";

/** The recorded facts about one step of a plan. */
export interface StepFacts {
  readonly step: LedgerStep;
  /** The history of the step in the log. */
  readonly history: StepHistory | undefined;
  /** The tasks that delegated the step. */
  readonly tasks: readonly DelegatedTask[];
  /** The time of the plan, used for events without a time of their own. */
  readonly createdAt: number;
}

/** Lists the start, delegation and end events of a step that are missing from the log. */
export function listMissingStepEvents({
  step,
  history,
  tasks,
  createdAt,
}: StepFacts): LedgerEvent[] {
  const { step_id, ordinal, description, status } = step;
  if (!hasRun(status) && history === undefined && tasks.length === 0) return [];

  const { started_at, completed_at } = step;
  const submissions = tasks.map(({ submitted_at }) => submitted_at);
  const known = [started_at, completed_at, history?.firstAt, ...submissions].filter(isTime);
  const begin = known.length === 0 ? createdAt : Math.min(...known);
  const end = Math.max(begin, completed_at ?? begin, history?.lastAt ?? begin, ...submissions);

  const events: LedgerEvent[] = [];
  if (history?.started === undefined) {
    const payload = { step_id, ordinal, description };
    events.push({ timestamp: begin, type: "step_started", payload });
  }
  events.push(...listMissingDelegations(step_id, history, tasks));
  if (hasEnded(history)) return events;
  if (status === "completed") {
    const payload = { tool_calls_made: step.tool_calls, step_id };
    events.push({ timestamp: end, type: "step_completed", payload });
  } else if (status === "failed") {
    events.push({ timestamp: end, type: "step_failed", payload: { step_id } });
  }
  return events;
}

/** Lists the delegation events of a step that are missing from the log, none of them before its start. */
export function listMissingDelegations(
  step_id: string,
  history: StepHistory | undefined,
  tasks: readonly DelegatedTask[],
): LedgerEvent[] {
  return tasks
    .filter(({ task_id }) => history?.tasks.has(task_id) !== true)
    .map(({ task_id, submitted_at }) => ({
      timestamp: Math.max(submitted_at, history?.started?.timestamp ?? submitted_at),
      type: "step_delegated",
      payload: { task_id, step_id },
    }));
}

function isTime(time: number | null | undefined): time is number {
  return typeof time === "number";
}
