import { limits } from "@agent/wire";
import type { Services } from "../services.ts";
import { BATCH_SIZE, purgeInBatches } from "../storage/purge-in-batches.ts";
import { deleteExpiredPairings } from "./store.ts";

/** Purges sessions a day after their end; until then their codes are distinguished from unknown ones. */
export async function purgePairings({
  storage,
  runtime,
}: Pick<Services, "storage" | "runtime">): Promise<void> {
  const old = { until: runtime.now() - limits.pairingRetentionMs, limit: BATCH_SIZE };
  await purgeInBatches(() => storage.transaction((tx) => deleteExpiredPairings(tx, old)));
}
