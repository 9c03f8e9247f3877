import type { Config } from "../config.ts";
import type { Services } from "../services.ts";
import { getRetentionCutoff } from "../storage/retention-cutoff.ts";
import { BATCH_SIZE, purgeInBatches } from "../storage/purge-in-batches.ts";
import { purgeInbound, purgeSettledOrders } from "./inbound/inbound-store.ts";
import { purgeOutbound } from "./outbound/outbound-store.ts";
import { purgeOutbox } from "./settlement/outbox-store.ts";

/** Whether what was over at a time is forgotten by now. */
export function isPurged(config: Pick<Config, "storage">, endedAt: number, now: number): boolean {
  const until = getRetentionCutoff(config, now);
  return until !== null && endedAt <= until;
}

/**
 * Forgets what passed between relays as many days after its end as finished tasks are kept. What is
 * open, held for the operator or booked from a peer stays (docs/decisions.md, 7).
 */
export async function purgeOldForwards({
  storage,
  runtime,
  config,
}: Pick<Services, "storage" | "runtime" | "config">): Promise<void> {
  const until = getRetentionCutoff(config, runtime.now());
  if (until === null) return;
  const old = { until, limit: BATCH_SIZE };
  // Where a task goes on to is forgotten last: by it a settlement is passed on.
  for (const purge of [purgeOutbox, purgeSettledOrders, purgeInbound, purgeOutbound]) {
    await purgeInBatches(() => storage.transaction((tx) => purge(tx, old)));
  }
}
