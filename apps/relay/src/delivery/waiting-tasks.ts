import { listPendingTaskIds } from "../tasks/assignment/assignment-store.ts";
import type { TaskRow } from "../storage/tables/tasks.ts";
import { parseRequiredCapabilities } from "../tasks/task.ts";
import { offerHere, offerToNewcomers } from "./offer-task.ts";
import type { RouteServices } from "./route-services.ts";
import { routePending } from "./route-task.ts";
import { isTaskWaiting, listRecentTasksOf, takeWaitingTasks } from "./waiting-store.ts";

const MAX_PENDING_PER_RETRY = 1_000;
const MAX_REROUTED = 500;
const MAX_OFFERED_PER_ROUND = 500;
/** A dead endpoint fails at most this many parallel attempts; the others are not made. */
const MAX_PARALLEL_ATTEMPTS = 8;

type TaskId = Pick<TaskRow, "task_id">;

/** Routes tasks that wait for an agent and were not sent to any device that could do them. */
export async function retryPending(services: RouteServices, executor: string): Promise<void> {
  const { storage, runtime, connections } = services;
  const query = { executor, now: runtime.now(), limit: MAX_PENDING_PER_RETRY };
  const waiting = await listPendingTaskIds(storage.read, query);
  const unoffered = waiting.filter((task) => {
    const required = parseRequiredCapabilities(task);
    return !connections
      .forAgent(executor)
      .some((connection) => connections.canServe(connection, required));
  });
  await runForEach(unoffered, (taskId) => routePending(services, taskId));
}

/** Takes the tasks that are due to be brought to an executor; other processes do not take them as well. */
export async function takeDueTasks({ storage, runtime }: RouteServices): Promise<TaskId[]> {
  const query = { now: runtime.now(), limit: MAX_REROUTED };
  if (!(await isTaskWaiting(storage.read, query.now))) return [];
  return storage.transaction((tx) => takeWaitingTasks(tx, query));
}

/** Sends tasks to devices of this process, else routes them as if they were new. */
export function rerouteEach(services: RouteServices, tasks: readonly TaskId[]): Promise<void> {
  return runForEach(tasks, async (taskId) => {
    if (!(await offerHere(services, taskId))) await routePending(services, taskId);
  });
}

/** Lists new tasks that a device of this process could do and was never sent. */
export async function listUnofferedTasks(services: RouteServices): Promise<TaskId[]> {
  const { storage, runtime, processes, connections } = services;
  const process_id = processes.id();
  const query = { process_id, now: runtime.now(), limit: MAX_OFFERED_PER_ROUND };
  const recent = await listRecentTasksOf(storage.read, query);
  return recent.filter((task) => {
    const required = parseRequiredCapabilities(task);
    return connections
      .forAgent(task.executor)
      .some(
        (device) =>
          device.offered.get(task.task_id) === undefined && connections.canServe(device, required),
      );
  });
}

/** Sends tasks to the devices of this process that were never sent them. */
export function offerEach(services: RouteServices, tasks: readonly TaskId[]): Promise<void> {
  return runForEach(tasks, (taskId) => offerToNewcomers(services, taskId));
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
