import { limits } from "@agent/wire";
import { workerOf } from "../realtime/connections.ts";
import { advance, routeTask, type RouteServices } from "../routing/route-task.ts";
import { lapsedTasks, renewLease } from "./store.ts";

const batch = 500;

/** Keeps the claims of connected devices alive: an open socket is a sign of life. */
export async function renewLeases(services: RouteServices): Promise<void> {
  const { storage, runtime, connections } = services;
  const lease_until = runtime.now() + limits.claimLeaseMs;
  for (const connection of connections.all()) {
    for (const task_id of connection.claimed) {
      const claimed_by = workerOf(connection);
      const renewed = await storage.transaction((tx) =>
        renewLease(tx, { task_id, claimed_by, lease_until }),
      );
      if (!renewed) connection.claimed.delete(task_id);
    }
  }
}

/** Takes tasks back from workers that have gone silent, and brings them to the next. */
export async function lapseLeases(services: RouteServices): Promise<void> {
  const { storage, runtime, log } = services;
  for (const task of await lapsedTasks(storage.read, runtime.now(), batch)) {
    log.warn("task.lease_lapsed", { correlationId: task.task_id, claimed_by: task.claimed_by });
    await advance(services, task);
    await routeTask(services, task.task_id);
  }
}
