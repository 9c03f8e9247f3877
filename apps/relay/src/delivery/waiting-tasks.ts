import {
  listPendingOfPair,
  listPendingOfSubmitter,
  listPendingTaskIds,
  type PendingPage,
} from "../tasks/assignment/assignment-store.ts";
import type { TaskRow } from "../storage/tables/tasks.ts";
import { parseRequiredCapabilities } from "../tasks/task.ts";
import { sendHere, sendToNewcomers } from "./send-task.ts";
import type { RouteServices } from "./route-services.ts";
import { reassignPending, reassignToNext, routePending } from "./route-task.ts";
import { isAnyTaskDue, listRecentTasksOf, claimWaitingTasks } from "./waiting-store.ts";

const MAX_PENDING_PER_RETRY = 1_000;
const MAX_REASSIGNED_PER_PAGE = 100;
const MAX_REROUTED = 500;
const MAX_SENT_PER_ROUND = 500;
/** A dead endpoint fails at most this many parallel attempts; the others are not made. */
const MAX_PARALLEL_ATTEMPTS = 8;

type TaskId = Pick<TaskRow, "task_id">;

/** Routes tasks that wait for an agent and were not sent to any device that could do them. */
export async function retryPending(services: RouteServices, executor: string): Promise<void> {
  const { storage, runtime, connections } = services;
  const query = { executor, now: runtime.now(), limit: MAX_PENDING_PER_RETRY, after: "" };
  const waiting = await listPendingTaskIds(storage.read, query);
  const unsent = waiting.filter((task) => {
    const required = parseRequiredCapabilities(task);
    return !connections
      .forAgent(executor)
      .some((connection) => connections.canServe(connection, required));
  });
  await runForEach(unsent, (taskId) => routePending(services, taskId));
}

/**
 * Reassigns the tasks that wait for a revoked agent to their next executors, or cancels them, and cancels those
 * that wait for others and that it submitted.
 */
export async function reassignAllOf(services: RouteServices, agentId: string): Promise<void> {
  const { read } = services.storage;
  await reassignEach(services, {
    list: (page) => listPendingTaskIds(read, { ...page, executor: agentId }),
    reassign: (taskId) => reassignToNext(services, taskId, agentId),
  });
  await reassignEach(services, {
    list: (page) => listPendingOfSubmitter(read, { ...page, submitted_by: agentId }),
    reassign: (taskId) => reassignPending(services, taskId),
  });
}

/** Reassigns the tasks of a submitter that wait for an agent that it has blocked, or cancels them. */
export async function reassignBlocked(
  services: RouteServices,
  pair: { readonly submitted_by: string; readonly executor: string },
): Promise<void> {
  await reassignEach(services, {
    list: (page) => listPendingOfPair(services.storage.read, { ...page, ...pair }),
    reassign: (taskId) => reassignPending(services, taskId),
  });
}

/** Each task has its own transaction, because an agent can have thousands. */
async function reassignEach(
  { runtime, closing }: RouteServices,
  {
    list,
    reassign,
  }: {
    readonly list: (page: PendingPage) => Promise<TaskId[]>;
    readonly reassign: (taskId: string) => Promise<void>;
  },
): Promise<void> {
  let after: string | undefined = "";
  while (after !== undefined && !closing.aborted) {
    const waiting = await list({ now: runtime.now(), limit: MAX_REASSIGNED_PER_PAGE, after });
    await runForEach(waiting, reassign);
    after = waiting.at(-1)?.task_id;
  }
}

/** Claims the tasks that are due to be routed again, so that no other process routes them too. */
export async function claimDueTasks({ storage, runtime }: RouteServices): Promise<TaskId[]> {
  const query = { now: runtime.now(), limit: MAX_REROUTED };
  if (!(await isAnyTaskDue(storage.read, query.now))) return [];
  return storage.transaction((tx) => claimWaitingTasks(tx, query));
}

/** Sends tasks to devices of this process, or otherwise routes them like new ones. */
export function rerouteEach(services: RouteServices, tasks: readonly TaskId[]): Promise<void> {
  return runForEach(tasks, async (taskId) => {
    if (!(await sendHere(services, taskId))) await routePending(services, taskId);
  });
}

/** Lists new tasks that a device of this process could do and was never sent. */
export async function listUnsentTasks(services: RouteServices): Promise<TaskId[]> {
  const { storage, runtime, processes, connections } = services;
  const process_id = processes.id();
  const query = { process_id, now: runtime.now(), limit: MAX_SENT_PER_ROUND };
  const recent = await listRecentTasksOf(storage.read, query);
  return recent.filter((task) => {
    const required = parseRequiredCapabilities(task);
    return connections
      .forAgent(task.executor)
      .some(
        (device) =>
          device.sentTasks.get(task.task_id) === undefined &&
          connections.canServe(device, required),
      );
  });
}

/** Sends tasks to the devices of this process that were never sent them. */
export function sendEach(services: RouteServices, tasks: readonly TaskId[]): Promise<void> {
  return runForEach(tasks, (taskId) => sendToNewcomers(services, taskId));
}

/** Works on a few tasks at a time. */
async function runForEach(
  tasks: readonly TaskId[],
  work: (taskId: string) => Promise<void>,
): Promise<void> {
  const left = [...tasks];
  const runNext = async () => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) await work(next.task_id);
  };
  await Promise.all(Array.from({ length: MAX_PARALLEL_ATTEMPTS }, runNext));
}
