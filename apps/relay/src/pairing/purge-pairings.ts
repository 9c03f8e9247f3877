import { limits } from "@agent/wire";
import type { Services } from "../services.ts";
import { deleteExpiredPairings } from "./store.ts";

const BATCH_SIZE = 1_000;

/** Purges sessions a day after their end; until then their codes are distinguished from unknown ones. */
export async function purgePairings({
  storage,
  runtime,
}: Pick<Services, "storage" | "runtime">): Promise<void> {
  const old = { until: runtime.now() - limits.pairingRetentionMs, limit: BATCH_SIZE };
  while ((await storage.transaction((tx) => deleteExpiredPairings(tx, old))) === BATCH_SIZE);
}
