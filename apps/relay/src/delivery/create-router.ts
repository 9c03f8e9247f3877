import { listExecutorsWithPendingTasks } from "../tasks/assignment/assignment-store.ts";
import { createEndpointBackoff } from "./endpoints/endpoint-backoff.ts";
import { createOpenCalls } from "./endpoints/open-calls.ts";
import { sendHere } from "./send-task.ts";
import type { RouteDependencies, RouteServices } from "./route-services.ts";
import { reassignStalled, reassignToNext, routeTask } from "./route-task.ts";
import type { Router } from "./router.ts";
import {
  listUnsentTasks,
  reassignAllOf,
  reassignBlocked,
  sendEach,
  rerouteEach,
  retryPending,
  claimDueTasks,
} from "./waiting-tasks.ts";

export function createRouter(parts: RouteDependencies): Router {
  const { runtime, clock, storage, log } = parts;
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
    begin(() => retryPending(services, agentId), { agent_id: agentId });
  }

  return {
    route: (task) => begin(() => routeTask(services, task), { correlationId: task.task_id }),
    reassignToNext: (taskId, executorId) =>
      begin(() => reassignToNext(services, taskId, executorId), { correlationId: taskId }),
    reassignStalled: (taskId) =>
      begin(() => reassignStalled(services, taskId), { correlationId: taskId }),
    cancelCall: (taskId) => calls.cancel(taskId),
    retryPendingFor,
    reassignAllOf: (agentId) =>
      begin(() => reassignAllOf(services, agentId), { agent_id: agentId }),
    reassignBlocked: (submitted_by, executor) =>
      begin(() => reassignBlocked(services, { submitted_by, executor }), { agent_id: executor }),
    async retryAllPending() {
      for (const { executor } of await listExecutorsWithPendingTasks(storage.read, runtime.now())) {
        retryPendingFor(executor);
      }
    },
    async rerouteWaiting() {
      if (stopped) return;
      const due = await claimDueTasks(services);
      begin(() => rerouteEach(services, due), {});
    },
    async sendUnsent() {
      if (stopped) return;
      const unsent = await listUnsentTasks(services);
      begin(() => sendEach(services, unsent), {});
    },
    sendHere: (taskId) =>
      begin(async () => void (await sendHere(services, taskId)), { correlationId: taskId }),
    stop,
    async close() {
      stop();
      closing.abort(new Error("the relay is closing"));
      while (inFlight.size > 0) await Promise.all(inFlight);
    },
  };
}
