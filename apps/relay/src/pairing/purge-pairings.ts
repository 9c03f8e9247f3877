import { limits } from "@agent/wire";
import type { Services } from "../services.ts";
import { purgeInBatches } from "../storage/run-in-batches.ts";
import { deleteExpiredPairings } from "./store.ts";

/** Purges sessions a day after their end; until then their codes are distinguished from unknown ones. */
export async function purgePairings({
  storage,
  runtime,
}: Pick<Services, "storage" | "runtime">): Promise<void> {
  await purgeInBatches(storage, deleteExpiredPairings, {
    until: runtime.now() - limits.pairingRetentionMs,
  });
}
