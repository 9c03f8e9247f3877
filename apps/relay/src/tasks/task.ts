import { mayActFor, type Caller } from "../identity/caller.ts";
import type { Attempt } from "../routing/attempt.ts";
import type { TaskRow } from "../storage/tables/tasks.ts";

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
