import type { RoutingChoice } from "@agent/wire";
import { mayActFor, type Caller } from "../identity/caller.ts";
import type { Attempt } from "../routing/attempt.ts";
import type { TrustGraph } from "../routing/trust-graph.ts";
import type { TaskRow } from "../storage/tables/tasks.ts";

type TaskParties = Pick<
  TaskRow,
  "submitted_by" | "agent_id" | "assigned_to" | "via_peer" | "status"
>;

type Blocks = Pick<TrustGraph, "isBlocked">;

/**
 * Returns whether the caller is a task's submitter, target or assigned executor. An agent that the submitter has
 * blocked is none unless it has begun the task.
 */
export function isParticipant(caller: Caller, task: TaskParties, blocks: Blocks): boolean {
  const executors = isForwarded(task) ? [] : [task.agent_id, task.assigned_to];
  const admitted = executors.filter((id) => id !== null && !isShutOut(task, id, blocks));
  return mayActFor(caller, [task.submitted_by, ...admitted]);
}

/** Returns whether an agent may neither read a task nor be paid for it, because the submitter has blocked it. */
export function isShutOut(task: TaskParties, agentId: string, blocks: Blocks): boolean {
  return blocks.isBlocked(task.submitted_by, agentId) && !hasBegun(task, agentId);
}

/**
 * Returns whether a task shows that an agent has begun it: a device or a call of its endpoint has the claim, or
 * its receipt has ended the task. A task that was only sent to a device or listed by a poll shows nothing,
 * because an agent receives both without agreeing to do the work.
 */
export function hasBegun(
  task: Pick<TaskRow, "agent_id" | "assigned_to" | "status">,
  agentId: string,
): boolean {
  const isUnclaimed = task.status === "pending" || task.status === "cancelled";
  return !isUnclaimed && executorOf(task) === agentId;
}

/**
 * Returns whether the executor is another relay's agent; a local agent with its id is a different
 * one.
 */
export function isForwarded(task: Pick<TaskRow, "via_peer">): boolean {
  return task.via_peer !== null;
}

const ENDPOINT_PREFIX = "endpoint ";

/** Builds the `claimed_by` value of a task whose executor's endpoint is being called. */
export function endpointClaimRef(id: string): string {
  return `${ENDPOINT_PREFIX}${id}`;
}

/**
 * Returns whether the executor's endpoint is being called for a task that no device has claimed.
 */
export function isClaimedByEndpoint({ claimed_by }: Pick<TaskRow, "claimed_by">): boolean {
  return claimed_by?.startsWith(ENDPOINT_PREFIX) === true;
}

/** Returns the task's current executor: the agent that routing chose, otherwise its target. */
export function executorOf(row: Pick<TaskRow, "agent_id" | "assigned_to">): string {
  return row.assigned_to ?? row.agent_id;
}

export function parseRequiredCapabilities(row: Pick<TaskRow, "required_capabilities">): string[] {
  return JSON.parse(row.required_capabilities) as string[];
}

export function parseRoutingChoice(row: Pick<TaskRow, "routing_choice">): RoutingChoice | null {
  return row.routing_choice === null ? null : (JSON.parse(row.routing_choice) as RoutingChoice);
}

export function parseAttempts(row: Pick<TaskRow, "attempts">): Attempt[] {
  return JSON.parse(row.attempts) as Attempt[];
}

export function isOpen(row: Pick<TaskRow, "status" | "expires_at">, now: number): boolean {
  return (row.status === "pending" || row.status === "claimed") && row.expires_at > now;
}

/** Returns whether an open task's time is over, even if it has not been swept yet. */
export function isExpired(row: Pick<TaskRow, "status" | "expires_at">, now: number): boolean {
  return (row.status === "pending" || row.status === "claimed") && row.expires_at <= now;
}
