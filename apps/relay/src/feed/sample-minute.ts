import { limits } from "@agent/wire";
import { listOnlineAgents } from "../agents/discovery/list-online.ts";
import { purgeOnlineHistory } from "../agents/online-history/purge-history.ts";
import { recordOnline } from "../agents/online-history/record-online.ts";
import type { Services } from "../services.ts";
import { purgeInBatches } from "../storage/run-in-batches.ts";
import { deleteOldEvents } from "./event-store.ts";
import { MINUTE_MS } from "../clock/durations.ts";
import { deleteOldMinutes } from "./minute-store.ts";
import { addToMinute } from "./number-events.ts";

/**
 * Adds the agents that are online to the figures of this minute and to their own histories, and deletes what
 * is kept no longer.
 */
export async function sampleMinute(
  services: Pick<Services, "storage" | "runtime" | "connections">,
): Promise<void> {
  const { storage, runtime } = services;
  const now = runtime.now();
  const online = await listOnlineAgents(services);
  await storage.transaction(async (tx) => {
    await addToMinute(tx, Math.floor(now / MINUTE_MS), { online: online.size });
    await deleteOldMinutes(tx, Math.floor((now - limits.seriesMs) / MINUTE_MS));
    await recordOnline(tx, online, now);
  });
  await purgeOnlineHistory(services);
  await purgeInBatches(storage, deleteOldEvents, { until: now - limits.relayEventMs });
}
