import { uuidV7 } from "@agent/crypto";
import type { Services } from "../services.ts";
import { getRetentionCutoff } from "../storage/retention-cutoff.ts";
import { purgeInBatches } from "../storage/run-in-batches.ts";
import { purgeEventsOfFinishedTasks, purgeEventsOfPeerTasks } from "./events/event-store.ts";
import { purgeExpiredTasks } from "./assignment/expired-task-store.ts";
import { purgeNoShows } from "./assignment/no-show-store.ts";
import { purgeParents } from "./submission/parent-store.ts";
import { purgeFinishedTasks, purgeFinishedPeerTasks } from "./retention-store.ts";

/** Purges finished tasks after the configured days; ids grow with time, so no index is needed. */
export async function purgeOldTasks({
  storage,
  runtime,
  config,
}: Pick<Services, "storage" | "runtime" | "config">): Promise<void> {
  const until = getRetentionCutoff(config, runtime.now());
  if (until === null) return;
  const old = { before: uuidV7(until, new Uint8Array(10)), until };
  // A task is deleted only after its events.
  const purges = [
    purgeEventsOfFinishedTasks,
    purgeEventsOfPeerTasks,
    purgeFinishedTasks,
    purgeFinishedPeerTasks,
    purgeNoShows,
    purgeExpiredTasks,
    purgeParents,
  ];
  for (const purge of purges) {
    await purgeInBatches(storage, purge, old);
  }
}
