import { toDollars } from "@agent/budget";
import type { AcceptanceTerms, InspectionCounts, Task } from "@agent/wire";
import type { StoredTaskRow, TaskRow } from "../storage/tables/tasks.ts";
import { newestEventId } from "./reading/task-events.ts";
import { parseRequiredCapabilities, parseRoutingChoice } from "./task.ts";

/** The members of a task with an inspection before payment, as they are stored. */
export interface TaskAcceptance {
  readonly acceptance: AcceptanceTerms;
  readonly submitter_inspections: InspectionCounts;
}

/** Builds the view of a task that its participants get. */
export function toTask(
  row: TaskRow & Partial<Pick<StoredTaskRow, "event_count" | "erased_at" | "cancel_requested_at">>,
): Task {
  return {
    task_id: row.task_id,
    agent_id: row.agent_id,
    prompt: row.prompt,
    submitted_at: row.submitted_at,
    status: row.status,
    submitted_by: row.submitted_by,
    assigned_to: row.assigned_to,
    required_capabilities: parseRequiredCapabilities(row),
    expires_at: row.expires_at,
    wall_clock_ms: row.wall_clock_ms,
    step_id: row.step_id,
    routing_choice: parseRoutingChoice(row),
    estimated_cost: toDollars(row.charge),
    amount_locked: toDollars(row.locked),
    event_id: newestEventId(row),
    ...(row.status === "claimed" &&
      typeof row.cancel_requested_at === "number" && {
        cancel_requested_at: row.cancel_requested_at,
      }),
    ...(row.delegation_token !== null && {
      delegation_token: JSON.parse(row.delegation_token) as Record<string, unknown>,
    }),
    ...(typeof row.erased_at === "number" && { erased_at: row.erased_at }),
    ...(row.acceptance !== null && (JSON.parse(row.acceptance) as TaskAcceptance)),
  };
}

/**
 * Builds the view of a task that outlives the row of the task: without its prompt and its delegation token.
 */
export function toTaskWithoutPrompt(row: StoredTaskRow): Task {
  const { delegation_token: _, ...shown } = toTask(row);
  return { ...shown, prompt: "" };
}
