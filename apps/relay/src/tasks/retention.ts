import { uuidV7 } from "@agent/crypto";
import type { Services } from "../services.ts";
import { forgottenUntil } from "../storage/forgotten-until.ts";
import { batch, inBatches } from "../storage/in-batches.ts";
import { forgetEnded } from "./delegation-store.ts";
import { forgetNoShows } from "./no-show-store.ts";
import { forgetFinished, forgetFinishedOfPeers } from "./store.ts";

/** A submission that was admitted just before its token ended may not be stored yet. */
const stillArrivingMs = 60_000;

/** Forgets finished tasks after the configured days; ids grow with time, so no index is needed. */
export async function forgetOldTasks({
  storage,
  runtime,
  config,
}: Pick<Services, "storage" | "runtime" | "config">): Promise<void> {
  const until = forgottenUntil(config, runtime.now());
  if (until === null) return;
  const old = { before: uuidV7(until, new Uint8Array(10)), until, limit: batch };
  await inBatches(() => storage.transaction((tx) => forgetFinished(tx, old)));
  await inBatches(() => storage.transaction((tx) => forgetFinishedOfPeers(tx, old)));
  await inBatches(() => storage.transaction((tx) => forgetNoShows(tx, old)));
}

/** Forgets what was used of delegation tokens that ended: nothing can be submitted under them again. */
export async function forgetEndedBudgets({
  storage,
  runtime,
}: Pick<Services, "storage" | "runtime">): Promise<void> {
  const old = { until: runtime.now() - stillArrivingMs, limit: batch };
  await inBatches(() => storage.transaction((tx) => forgetEnded(tx, old)));
}
