import { hasRoomForTask } from "../inspections/acceptance/find-offer.ts";
import type { Attempt } from "../routing/attempt.ts";
import type { TaskRow } from "../storage/tables/tasks.ts";
import { reassignTask } from "../tasks/assignment/assignment-store.ts";
import { parseAttempts, parseRequiredCapabilities } from "../tasks/task.ts";
import { enqueueTaskAssigned } from "../webhooks/enqueue-task-webhooks.ts";
import { findCallableAgent } from "./endpoints/find-callable-agent.ts";
import { findPending } from "./pending-task.ts";
import type { RouteServices } from "./route-services.ts";

/**
 * Assigns a pending task to the next executor that can be reached, and returns the changed task;
 * undefined when all have been tried: then it waits for the first of them again, if that has room for it.
 */
export async function moveToNextExecutor(
  services: RouteServices,
  task: TaskRow,
): Promise<TaskRow | undefined> {
  const { storage } = services;
  const attempts = parseAttempts(task);
  const attempt = await findNextReachable(services, task, attempts);
  const next = attempts[attempt ?? 0];
  if (next === undefined || (attempt === undefined && task.attempt === 0)) return undefined;
  const reassignment = {
    assigned_to: next.agent_id === task.agent_id ? null : next.agent_id,
    attempt: attempt ?? 0,
    via_peer: next.via?.relay_id ?? null,
    charge: next.charge,
  };
  const changed = await storage.transaction(async (tx) => {
    if (!(await hasRoomForTask(tx, task, next))) return false;
    const change = { task_id: task.task_id, from_attempt: task.attempt, ...reassignment };
    if (!(await reassignTask(tx, { ...change, now: services.runtime.now() }))) return false;
    await enqueueTaskAssigned(tx, services, { ...task, ...reassignment });
    return true;
  });
  if (changed) services.waiters.notify(task.task_id);
  return attempt === undefined ? undefined : findPending(services, task.task_id);
}

/**
 * Skips executors that are unreachable, or have as much open as they offer, without assigning them: while
 * they were assigned, the receipt of another would be refused.
 */
async function findNextReachable(
  services: RouteServices,
  task: TaskRow,
  attempts: readonly Attempt[],
): Promise<number | undefined> {
  for (const [at, attempt] of attempts.entries()) {
    const { agent_id: executor, via } = attempt;
    if (at <= task.attempt || services.trustGraph.isBlocked(task.submitted_by, executor)) continue;
    if (!(await hasRoomForTask(services.storage.read, task, attempt))) continue;
    if (via !== undefined && services.federation !== undefined) return at;
    const capabilities = parseRequiredCapabilities(task);
    const sockets = services.connections.forAgent(executor);
    if (sockets.some((socket) => services.connections.canServe(socket, capabilities))) return at;
    if (services.remoteDevices.canServe(executor, capabilities)) return at;
    if ((await findCallableAgent(services, executor)) !== undefined) return at;
  }
  return undefined;
}
