import { forwardTask } from "../federation/outbound/forward-task.ts";
import { withStoredTrace } from "../observability/trace.ts";
import type { TaskRow } from "../storage/tables/tasks.ts";
import { executorOf, isForwarded, parseAttempts } from "../tasks/task.ts";
import { cancelWithoutExecutor } from "./cancel-without-executor.ts";
import { callEndpoint } from "./endpoints/call-endpoint.ts";
import { isSubmitterGone } from "./is-submitter-gone.ts";
import { moveToNextExecutor } from "./move-to-next-executor.ts";
import { sendElsewhere, sendToDevices } from "./send-task.ts";
import { findPending, isBlocked } from "./pending-task.ts";
import type { RouteServices } from "./route-services.ts";

/**
 * Offers a task to its executors in order, over their sockets or otherwise their endpoints, until one
 * accepts it. If all fail, the task waits for the executor that was chosen first (specification, "Routing
 * phases").
 */
export function routeTask(services: RouteServices, task: TaskRow): Promise<void> {
  return tryExecutors(services, task, async () => task);
}

/** Routes a task that may have been waiting for long. */
export function routePending(services: RouteServices, taskId: string): Promise<void> {
  return runOnPending(services, taskId, (task) => routeTask(services, task));
}

/** Tries the next executor at once, because the present one may no longer have the task. */
export function reassignPending(services: RouteServices, taskId: string): Promise<void> {
  return runOnPending(services, taskId, (task) => reassign(services, task));
}

/** Tries the next executor at once, because one refused the task. */
export function reassignToNext(
  services: RouteServices,
  taskId: string,
  executorId: string,
): Promise<void> {
  return runOnPending(services, taskId, async (task) => {
    // A local agent with the same id must not reassign a task of a remote agent.
    if (!isForwarded(task) && executorOf(task) === executorId) await reassign(services, task);
  });
}

/** Tries the next executor after one stopped responding, or the same one if there is no other. */
export async function reassignStalled(services: RouteServices, taskId: string): Promise<void> {
  await runOnPending(services, taskId, (task) => moveToNextExecutor(services, task));
  await routePending(services, taskId);
}

/** Works on a task that still waits, in its trace; cancels it instead if its submitter is gone meanwhile. */
async function runOnPending(
  services: RouteServices,
  taskId: string,
  work: (task: TaskRow) => Promise<unknown>,
): Promise<void> {
  const task = await findPending(services, taskId);
  if (task === undefined) return;
  await withStoredTrace(task.trace, async () =>
    (await isSubmitterGone(services, task)) ? cancelWithoutExecutor(services, taskId) : work(task),
  );
}

function reassign(services: RouteServices, task: TaskRow): Promise<void> {
  return tryExecutors(services, task, () => moveToNextExecutor(services, task));
}

async function tryExecutors(
  services: RouteServices,
  task: TaskRow,
  begin: () => Promise<TaskRow | undefined>,
): Promise<void> {
  const { connections, closing } = services;
  const [originalAttempt] = parseAttempts(task);
  const devices = () => connections.forAgent(originalAttempt?.agent_id ?? task.agent_id);
  const before = new Set(devices());
  let current = await begin();
  while (current !== undefined) {
    if ((await dispatch(services, current)) || closing.aborted) return;
    current = await moveToNextExecutor(services, current);
  }
  // Devices that connected while others were tried have not been notified.
  const newDevices = devices().filter((device) => !before.has(device));
  const waiting = newDevices.length > 0 ? await findPending(services, task.task_id) : undefined;
  if (waiting !== undefined && !isBlocked(services, waiting)) {
    sendToDevices(services, newDevices, waiting);
  }
}

/**
 * Sends a task to its executor's sockets, endpoint or relay; an executor that the payer blocked gets
 * none.
 */
async function dispatch(services: RouteServices, task: TaskRow): Promise<boolean> {
  if (isBlocked(services, task)) return false;
  const nextHop = parseAttempts(task)[task.attempt]?.via;
  const { federation } = services;
  if (nextHop !== undefined) {
    return federation !== undefined && forwardTask({ ...services, federation }, task, nextHop);
  }
  const devices = services.connections.forAgent(executorOf(task));
  const isSentHere = sendToDevices(services, devices, task);
  const isSent = (await sendElsewhere(services, task)) || isSentHere;
  return isSent || callEndpoint(services, task);
}
