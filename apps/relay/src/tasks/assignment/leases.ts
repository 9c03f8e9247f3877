import type { Services } from "../../services.ts";
import { claimantIdOf, type Connection } from "../../realtime/connections.ts";
import { listExpiredClaims, renewLease } from "./claim-store.ts";
import { expireLease, type ExpireServices } from "./expire-lease.ts";

const BATCH_SIZE = 500;

/** Renews the claims of connected devices: an open socket is a sign of life. */
export async function renewLeases(
  services: Pick<Services, "storage" | "runtime" | "connections">,
): Promise<void> {
  await Promise.all([...services.connections.all()].map((own) => renewLeasesOf(services, own)));
}

async function renewLeasesOf(
  { storage, runtime }: Pick<Services, "storage" | "runtime">,
  connection: Connection,
): Promise<void> {
  const lease = { claimed_by: claimantIdOf(connection), now: runtime.now() };
  await Promise.all(
    [...connection.claimed].map(async (task_id) => {
      const renewed = await storage.transaction((tx) => renewLease(tx, { ...lease, task_id }));
      if (!renewed) connection.claimed.delete(task_id);
    }),
  );
}

/** Releases tasks whose claims have ended, and routes them to the next executor. */
export async function expireLeases(
  services: ExpireServices & Pick<Services, "router">,
): Promise<void> {
  const { storage, runtime, router } = services;
  for (const { task_id } of await listExpiredClaims(storage.read, runtime.now(), BATCH_SIZE)) {
    if ((await expireLease(services, task_id)) === "pending") router.reassignStalled(task_id);
  }
}
