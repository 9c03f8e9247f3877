import { limits } from "@agent/wire";
import { workerOf, type Connection } from "../realtime/connections.ts";
import type { Services } from "../services.ts";
import { lapseClaim, lapsedTasks, renewLease } from "./assignment-store.ts";

const batch = 500;

/** Keeps the claims of connected devices alive: an open socket is a sign of life. */
export async function renewLeases(
  services: Pick<Services, "storage" | "runtime" | "connections">,
): Promise<void> {
  await Promise.all([...services.connections.all()].map((own) => renewAll(services, own)));
}

async function renewAll(
  { storage, runtime }: Pick<Services, "storage" | "runtime">,
  connection: Connection,
): Promise<void> {
  const lease = {
    claimed_by: workerOf(connection),
    lease_until: runtime.now() + limits.claimLeaseMs,
  };
  await Promise.all(
    [...connection.claimed].map(async (task_id) => {
      const renewed = await storage.transaction((tx) => renewLease(tx, { ...lease, task_id }));
      if (!renewed) connection.claimed.delete(task_id);
    }),
  );
}

/** Takes tasks back from workers that have gone silent, and has them brought to the next. */
export async function lapseLeases({
  storage,
  runtime,
  log,
  router,
  waiters,
}: Pick<Services, "storage" | "runtime" | "log" | "router" | "waiters">): Promise<void> {
  for (const { task_id, claimed_by } of await lapsedTasks(storage.read, runtime.now(), batch)) {
    if (!(await storage.transaction((tx) => lapseClaim(tx, task_id, runtime.now())))) continue;
    log.warn("task.lease_lapsed", { correlationId: task_id, claimed_by });
    waiters.changed(task_id);
    router.takeBack(task_id);
  }
}
