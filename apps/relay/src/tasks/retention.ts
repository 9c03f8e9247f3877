import { uuidV7 } from "@agent/crypto";
import type { Services } from "../services.ts";
import { batch, inBatches } from "../storage/in-batches.ts";
import { forgetEnded } from "./delegation-store.ts";
import { forgetFinished, forgetFinishedOfPeers } from "./store.ts";

const DAY = 86_400_000;
/** A submission that was admitted just before its token ended may not be stored yet. */
const stillArrivingMs = 60_000;

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
  await inBatches(() => storage.transaction((tx) => forgetFinished(tx, old)));
  await inBatches(() => storage.transaction((tx) => forgetFinishedOfPeers(tx, old)));
}

/** Forgets what was used of delegation tokens that ended: nothing can be submitted under them again. */
export async function forgetEndedBudgets({
  storage,
  runtime,
}: Pick<Services, "storage" | "runtime">): Promise<void> {
  const old = { until: runtime.now() - stillArrivingMs, limit: batch };
  await inBatches(() => storage.transaction((tx) => forgetEnded(tx, old)));
}
