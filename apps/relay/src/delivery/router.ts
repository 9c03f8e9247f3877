import { awaitedExecutors, pendingTaskIds } from "../tasks/assignment-store.ts";
import { createEndpointBackoff } from "./endpoint-backoff.ts";
import { createOpenCalls } from "./open-calls.ts";
import type { TaskRow } from "../storage/tables/tasks.ts";
import {
  passOn,
  routeTask,
  routeWaiting,
  takeBack,
  type RouteParts,
  type RouteServices,
} from "./route-task.ts";

/** Brings tasks on their way in the background: nobody who asks for it waits for an endpoint. */
export interface Router {
  /** Of a task that was just stored. */
  readonly route: (task: TaskRow) => void;
  /** The executor will not do the task: the next one is tried. */
  readonly passOn: (taskId: string, executorId: string) => void;
  /** The executor has gone silent: the next one is tried, else it is offered the task again. */
  readonly takeBack: (taskId: string) => void;
  /** Cancels the call of an endpoint for a task, if one is under way. */
  readonly cancelCall: (taskId: string) => void;
  /** Tries what waits for an agent, and was not told to any device that could do it. */
  readonly bringWaiting: (agentId: string) => void;
  /** The same for everybody: a relay that stopped in between takes it up again. */
  readonly bringAllWaiting: () => Promise<void>;
  /** Begins nothing from now on. */
  readonly stop: () => void;
  /** Breaks off what is under way, so that it can be begun again, and resolves when it has ended. */
  readonly close: () => Promise<void>;
}

const broughtAtOnce = 1_000;
/** At a dead endpoint this many fail, and the others are not tried. */
const triedInParallel = 8;

export function createRouter(parts: RouteParts): Router {
  const { runtime, clock, storage, connections, log } = parts;
  const underWay = new Set<Promise<void>>();
  let stopped = false;
  const backoff = createEndpointBackoff(
    { now: clock.elapsed, schedule: runtime.schedule },
    bringWaiting,
  );
  const closing = new AbortController();
  const calls = createOpenCalls();
  const services: RouteServices = { ...parts, backoff, calls, closing: closing.signal };

  function begin(work: () => Promise<void>, about: Record<string, string>): void {
    if (stopped) return;
    const running = work()
      .catch((error: unknown) =>
        log.error("task.routing_failed", { ...about, error: String(error) }),
      )
      .finally(() => underWay.delete(running));
    underWay.add(running);
  }

  function stop(): void {
    stopped = true;
    backoff.stop();
  }

  function bringWaiting(agentId: string): void {
    begin(() => bring(agentId), { agent_id: agentId });
  }

  async function bring(executor: string): Promise<void> {
    const query = { executor, now: runtime.now(), limit: broughtAtOnce };
    const waiting = await pendingTaskIds(storage.read, query);
    const untold = waiting.filter(({ required_capabilities }) => {
      const required = JSON.parse(required_capabilities) as string[];
      return !connections
        .of(executor)
        .some((connection) => connections.canServe(connection, required));
    });
    const work = async () => {
      for (let next = untold.shift(); next !== undefined; next = untold.shift()) {
        await routeWaiting(services, next.task_id);
      }
    };
    await Promise.all(Array.from({ length: triedInParallel }, work));
  }

  return {
    route: (task) => begin(() => routeTask(services, task), { correlationId: task.task_id }),
    passOn: (taskId, executorId) =>
      begin(() => passOn(services, taskId, executorId), { correlationId: taskId }),
    takeBack: (taskId) => begin(() => takeBack(services, taskId), { correlationId: taskId }),
    cancelCall: (taskId) => calls.cancel(taskId),
    bringWaiting,
    async bringAllWaiting() {
      for (const { executor } of await awaitedExecutors(storage.read, runtime.now())) {
        bringWaiting(executor);
      }
    },
    stop,
    async close() {
      stop();
      closing.abort(new Error("the relay is closing"));
      while (underWay.size > 0) await Promise.all(underWay);
    },
  };
}
