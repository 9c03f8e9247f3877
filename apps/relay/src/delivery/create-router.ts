import {
  isTaskWaiting,
  listExecutorsWithPendingTasks,
  listPendingTaskIds,
  takeWaitingTasks,
} from "../tasks/assignment/assignment-store.ts";
import { createEndpointBackoff } from "./endpoint-backoff.ts";
import { createOpenCalls } from "./open-calls.ts";
import {
  offerHere,
  reassignToNext,
  routeTask,
  routePending,
  reassignStalled,
  type RouteDependencies,
  type RouteServices,
} from "./route-task.ts";
import type { Router } from "./router.ts";
import { parseRequiredCapabilities } from "../tasks/task.ts";

const MAX_PENDING_PER_RETRY = 1_000;
const MAX_REROUTED = 500;
/** A dead endpoint fails at most this many parallel attempts; the others are not made. */
const MAX_PARALLEL_ATTEMPTS = 8;

export function createRouter(parts: RouteDependencies): Router {
  const { runtime, clock, storage, connections, log } = parts;
  const inFlight = new Set<Promise<void>>();
  let stopped = false;
  const backoff = createEndpointBackoff(
    { now: clock.elapsed, schedule: runtime.schedule },
    retryPendingFor,
  );
  const closing = new AbortController();
  const calls = createOpenCalls();
  const services: RouteServices = { ...parts, backoff, calls, closing: closing.signal };

  function begin(work: () => Promise<void>, logFields: Record<string, string>): void {
    if (stopped) return;
    const running = work()
      .catch((error: unknown) =>
        log.error("task.routing_failed", { ...logFields, error: String(error) }),
      )
      .finally(() => inFlight.delete(running));
    inFlight.add(running);
  }

  function stop(): void {
    stopped = true;
    backoff.stop();
  }

  function retryPendingFor(agentId: string): void {
    begin(() => retryPending(agentId), { agent_id: agentId });
  }

  async function retryPending(executor: string): Promise<void> {
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

  async function rerouteWaiting(): Promise<void> {
    const query = { now: runtime.now(), limit: MAX_REROUTED };
    if (!(await isTaskWaiting(storage.read, query.now))) return;
    const due = await storage.transaction((tx) => takeWaitingTasks(tx, query));
    const reroute = async (taskId: string) => {
      if (!(await offerHere(services, taskId))) await routePending(services, taskId);
    };
    begin(() => runForEach(due, reroute), {});
  }

  return {
    route: (task) => begin(() => routeTask(services, task), { correlationId: task.task_id }),
    reassignToNext: (taskId, executorId) =>
      begin(() => reassignToNext(services, taskId, executorId), { correlationId: taskId }),
    reassignStalled: (taskId) =>
      begin(() => reassignStalled(services, taskId), { correlationId: taskId }),
    cancelCall: (taskId) => calls.cancel(taskId),
    retryPendingFor,
    async retryAllPending() {
      for (const { executor } of await listExecutorsWithPendingTasks(storage.read, runtime.now())) {
        retryPendingFor(executor);
      }
    },
    async rerouteWaiting() {
      if (!stopped) await rerouteWaiting();
    },
    offerHere: (taskId) =>
      begin(async () => void (await offerHere(services, taskId)), { correlationId: taskId }),
    stop,
    async close() {
      stop();
      closing.abort(new Error("the relay is closing"));
      while (inFlight.size > 0) await Promise.all(inFlight);
    },
  };
}

/** Works on a few tasks at a time. */
async function runForEach(
  tasks: readonly { readonly task_id: string }[],
  work: (taskId: string) => Promise<void>,
): Promise<void> {
  const left = [...tasks];
  const runNext = async () => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) await work(next.task_id);
  };
  await Promise.all(Array.from({ length: MAX_PARALLEL_ATTEMPTS }, runNext));
}
