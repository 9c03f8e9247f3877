import type { Services } from "../services.ts";
import { workerOf, type Connection } from "../realtime/connections.ts";
import { lapsedTasks, renewLease } from "./assignment-store.ts";
import { lapse, type LapseServices } from "./lapse-claim.ts";

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
  const lease = { claimed_by: workerOf(connection), now: runtime.now() };
  await Promise.all(
    [...connection.claimed].map(async (task_id) => {
      const renewed = await storage.transaction((tx) => renewLease(tx, { ...lease, task_id }));
      if (!renewed) connection.claimed.delete(task_id);
    }),
  );
}

/** Takes tasks back whose claims are over, and has them brought to the next executor. */
export async function lapseLeases(
  services: LapseServices & Pick<Services, "router">,
): Promise<void> {
  const { storage, runtime, router } = services;
  for (const { task_id } of await lapsedTasks(storage.read, runtime.now(), batch)) {
    if ((await lapse(services, task_id)) === "pending") router.takeBack(task_id);
  }
}
