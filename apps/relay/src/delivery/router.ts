import {
  listExecutorsWithPendingTasks,
  listPendingTaskIds,
} from "../tasks/assignment/assignment-store.ts";
import { createEndpointBackoff } from "./endpoint-backoff.ts";
import { createOpenCalls } from "./open-calls.ts";
import type { TaskRow } from "../storage/tables/tasks.ts";
import {
  reassignToNext,
  routeTask,
  routePending,
  reassignStalled,
  type RouteDependencies,
  type RouteServices,
} from "./route-task.ts";

/** Routes tasks in the background, so that no request waits for an endpoint. */
export interface Router {
  /** Routes a task that was just stored. */
  readonly route: (task: TaskRow) => void;
  /** Tries the next executor, because one refused the task. */
  readonly reassignToNext: (taskId: string, executorId: string) => void;
  /**
   * Tries the next executor, because one stopped responding; without another it is offered the task
   * again.
   */
  readonly reassignStalled: (taskId: string) => void;
  /** Cancels the call of an endpoint for a task, if one is in flight. */
  readonly cancelCall: (taskId: string) => void;
  /** Routes tasks that wait for an agent and were not sent to any device that could do them. */
  readonly retryPendingFor: (agentId: string) => void;
  /** Routes the waiting tasks of all agents; a later start resumes an interrupted run. */
  readonly retryAllPending: () => Promise<void>;
  /** Starts nothing from now on. */
  readonly stop: () => void;
  /** Aborts the work in flight, so that it can be started again, and resolves when it has ended. */
  readonly close: () => Promise<void>;
}

const MAX_PENDING_PER_RETRY = 1_000;
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
    const unoffered = waiting.filter(({ required_capabilities }) => {
      const required = JSON.parse(required_capabilities) as string[];
      return !connections
        .forAgent(executor)
        .some((connection) => connections.canServe(connection, required));
    });
    const work = async () => {
      for (let next = unoffered.shift(); next !== undefined; next = unoffered.shift()) {
        await routePending(services, next.task_id);
      }
    };
    await Promise.all(Array.from({ length: MAX_PARALLEL_ATTEMPTS }, work));
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
    stop,
    async close() {
      stop();
      closing.abort(new Error("the relay is closing"));
      while (inFlight.size > 0) await Promise.all(inFlight);
    },
  };
}
