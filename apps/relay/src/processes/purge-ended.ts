import type { Services } from "../services.ts";
import { deleteOldChanges } from "./changes-store.ts";
import { deleteEndedPresences } from "./presence-store.ts";
import { deleteDeadProcesses } from "./process-store.ts";
import { deleteExpiredSeen } from "./seen-store.ts";

/** Deletes what processes left behind that ended without releasing it, and what is no longer needed. */
export async function purgeEndedProcesses({
  storage,
  runtime,
}: Pick<Services, "storage" | "runtime">): Promise<void> {
  await storage.transaction(async (tx) => {
    await deleteDeadProcesses(tx);
    await deleteEndedPresences(tx);
    await deleteOldChanges(tx);
    await deleteExpiredSeen(tx, runtime.now());
  });
}
