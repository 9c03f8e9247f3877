import { toDollars } from "@agent/budget";
import type { RoutingChoice, Task } from "@agent/wire";
import { mayActFor, type Caller } from "../identity/caller.ts";
import type { Attempt } from "../routing/attempt.ts";
import type { StoredTaskRow, TaskRow } from "../storage/tables/tasks.ts";
import { newestEventId } from "./reading/task-events.ts";

/** A task as its participants see it. */
export function toTask(
  row: TaskRow & Partial<Pick<StoredTaskRow, "events" | "erased_at" | "cancel_requested_at">>,
): Task {
  return {
    task_id: row.task_id,
    agent_id: row.agent_id,
    prompt: row.prompt,
    submitted_at: row.submitted_at,
    status: row.status,
    submitted_by: row.submitted_by,
    assigned_to: row.assigned_to,
    required_capabilities: JSON.parse(row.required_capabilities) as string[],
    expires_at: row.expires_at,
    wall_clock_ms: row.wall_clock_ms,
    step_id: row.step_id,
    routing_choice:
      row.routing_choice === null ? null : (JSON.parse(row.routing_choice) as RoutingChoice),
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
  };
}

/** Submitter, target and assigned executor may see a task. */
export function isParticipant(
  caller: Caller,
  task: Pick<TaskRow, "submitted_by" | "agent_id" | "assigned_to" | "attempts" | "attempt">,
): boolean {
  const workers = isForwarded(task) ? [] : [task.agent_id, task.assigned_to];
  return mayActFor(caller, [task.submitted_by, ...workers]);
}

/** Whether its executor is another relay's agent: who has that id here is somebody else. */
export function isForwarded(task: Pick<TaskRow, "attempts" | "attempt">): boolean {
  return assignedPeerOf(task) !== null;
}

/** The peer that has the task or is to get it; null for a task whose executor is an agent here. */
export function assignedPeerOf(task: Pick<TaskRow, "attempts" | "attempt">): string | null {
  // The attempts of most tasks lead to no other relay.
  if (!task.attempts.includes('"via":')) return null;
  return parseAttempts(task)[task.attempt]?.via?.relay_id ?? null;
}

const ENDPOINT_PREFIX = "endpoint ";

/** How a task's row says that its executor's endpoint is being called. */
export function endpointClaimRef(id: string): string {
  return `${ENDPOINT_PREFIX}${id}`;
}

/** Whether the relay has called the executor's endpoint for a task, and no device has claimed it. */
export function isClaimedByEndpoint({ claimed_by }: Pick<TaskRow, "claimed_by">): boolean {
  return claimed_by?.startsWith(ENDPOINT_PREFIX) === true;
}

/** Who has the task now: the agent that routing chose, else its target. */
export function executorOf(row: Pick<TaskRow, "agent_id" | "assigned_to">): string {
  return row.assigned_to ?? row.agent_id;
}

export function parseAttempts(row: Pick<TaskRow, "attempts">): Attempt[] {
  return JSON.parse(row.attempts) as Attempt[];
}

export function isOpen(row: Pick<TaskRow, "status" | "expires_at">, now: number): boolean {
  return (row.status === "pending" || row.status === "claimed") && row.expires_at > now;
}

/** An open task whose time is over is gone, even if the sweep has not come by yet. */
export function isExpired(row: Pick<TaskRow, "status" | "expires_at">, now: number): boolean {
  return (row.status === "pending" || row.status === "claimed") && row.expires_at <= now;
}
