import { isRevokedAgent } from "../agents/store.ts";
import { isPeerRemoved } from "../federation/peers/is-peer-removed.ts";
import { hasRoomForTask } from "../inspections/acceptance/find-offer.ts";
import type { Attempt } from "../routing/attempt.ts";
import type { TaskRow } from "../storage/tables/tasks.ts";
import { reassignTask } from "../tasks/assignment/assignment-store.ts";
import { parseAttempts, parseRequiredCapabilities } from "../tasks/task.ts";
import { enqueueTaskAssigned } from "../webhooks/enqueue-task-webhooks.ts";
import { cancelWithoutExecutor } from "./cancel-without-executor.ts";
import { findCallableAgent } from "./endpoints/find-callable-agent.ts";
import { findPending } from "./pending-task.ts";
import type { RouteServices } from "./route-services.ts";

/**
 * Assigns a pending task to the next executor that can be reached, and returns the changed task. Undefined
 * once all have been tried: the task then waits for the first executor that may have it, if that has room for
 * the task. A task that no executor may have is cancelled.
 */
export async function moveToNextExecutor(
  services: RouteServices,
  task: TaskRow,
): Promise<TaskRow | undefined> {
  const { storage } = services;
  const attempts = parseAttempts(task);
  const reachable = await findNextReachable(services, task, attempts);
  const attempt = reachable ?? (await findFirstAdmitted(services, task, attempts));
  const next = attempts[attempt];
  if (next === undefined) {
    // Rows of early versions name no executors.
    if (attempts.length > 0) await cancelWithoutExecutor(services, task.task_id);
    return undefined;
  }
  if (attempt === task.attempt) return undefined;
  const reassignment = {
    assigned_to: next.agent_id === task.agent_id ? null : next.agent_id,
    attempt,
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
  return reachable === undefined ? undefined : findPending(services, task.task_id);
}

/**
 * Returns the first executor, reachable or not, that is neither revoked, nor blocked by the submitter, nor an
 * agent of a peer that the operator removed; -1 without one.
 */
async function findFirstAdmitted(
  { storage, trustGraph }: RouteServices,
  { submitted_by }: TaskRow,
  attempts: readonly Attempt[],
): Promise<number> {
  for (const [at, { agent_id, via }] of attempts.entries()) {
    if (trustGraph.isBlocked(submitted_by, agent_id)) continue;
    // Only an agent's own relay knows about it.
    const isOut =
      via === undefined
        ? await isRevokedAgent(storage.read, agent_id)
        : await isPeerRemoved(storage.read, via.relay_id);
    if (!isOut) return at;
  }
  return -1;
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
    if (via !== undefined && services.federation !== undefined) {
      if (await isPeerRemoved(services.storage.read, via.relay_id)) continue;
      return at;
    }
    const capabilities = parseRequiredCapabilities(task);
    const sockets = services.connections.forAgent(executor);
    if (sockets.some((socket) => services.connections.canServe(socket, capabilities))) return at;
    if (services.remoteDevices.canServe(executor, capabilities)) return at;
    if ((await findCallableAgent(services, executor)) !== undefined) return at;
  }
  return undefined;
}
