import { uuidV7 } from "@agent/crypto";
import type { Services } from "../services.ts";
import { forgetFinished } from "./store.ts";

const DAY = 86_400_000;
const batch = 1_000;
/** As many in a round as keep up with any load, and few enough that other jobs have their turn. */
const batchesAtOnce = 100;

/** Forgets finished tasks after the configured days; ids grow with time, so no index is needed. */
export async function forgetOldTasks({
  storage,
  runtime,
  config,
}: Pick<Services, "storage" | "runtime" | "config">): Promise<void> {
  const { retentionDays } = config.storage;
  if (retentionDays === 0) return;
  const until = runtime.now() - retentionDays * DAY;
  const old = { before: uuidV7(until, new Uint8Array(10)), until, limit: batch };
  for (let left = batchesAtOnce; left > 0; left -= 1) {
    const forgotten = await storage.transaction((tx) => forgetFinished(tx, old));
    if (forgotten < batch) return;
  }
}
