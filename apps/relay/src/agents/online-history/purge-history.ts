import { limits } from "@agent/wire";
import type { Runtime } from "../../runtime.ts";
import type { Services } from "../../services.ts";
import { purgeInBatches } from "../../storage/run-in-batches.ts";
import { deleteOldSpans, deleteOldWatches } from "./span-store.ts";

/**
 * Deletes the times that are shown no longer. With at least 90 s between two spans this also bounds the rows
 * of each agent.
 */
export async function purgeOnlineHistory({
  storage,
  runtime,
}: Pick<Services, "storage"> & { readonly runtime: Pick<Runtime, "now"> }): Promise<void> {
  const until = runtime.now() - limits.onlineHistoryMs;
  await storage.transaction((tx) => deleteOldWatches(tx, until));
  await purgeInBatches(storage, deleteOldSpans, { until });
}
