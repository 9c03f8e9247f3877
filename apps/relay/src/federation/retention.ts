import { HOUR_MS } from "../clock/durations.ts";
import type { Config } from "../config/config.ts";
import type { Services } from "../services.ts";
import { getRetentionCutoff } from "../storage/retention-cutoff.ts";
import { purgeInBatches } from "../storage/run-in-batches.ts";
import { purgeInbound, purgeSettledOrders } from "./inbound/inbound-store.ts";
import { purgeOutbound } from "./outbound/outbound-store.ts";
import { purgePeers } from "./peers/unused-peer-store.ts";
import { purgeOutbox } from "./settlement/outbox-store.ts";

/** Much longer than a signed notice of a peer can be repeated. */
const UNUSED_PEER_MS = HOUR_MS;

/** Whether something that ended at `endedAt` is purged by now. */
export function isPurged(config: Pick<Config, "storage">, endedAt: number, now: number): boolean {
  const until = getRetentionCutoff(config, now);
  return until !== null && endedAt <= until;
}

/**
 * Deletes the records of forwards as many days after their end as finished tasks are stored. Open ones,
 * those held for the operator and those booked from a peer stay (docs/decisions.md, 7).
 */
export async function purgeOldForwards({
  storage,
  runtime,
  config,
}: Pick<Services, "storage" | "runtime" | "config">): Promise<void> {
  const until = getRetentionCutoff(config, runtime.now());
  if (until === null) return;
  // Outbound records are purged last, because a settlement finds its next relay by them.
  for (const purge of [purgeOutbox, purgeSettledOrders, purgeInbound, purgeOutbound]) {
    await purgeInBatches(storage, purge, { until });
  }
}

/**
 * Deletes removed peers to which nothing refers: no money, no task, no record, and no decision of the operator.
 * Otherwise a stranger could add peers under new ids without end. Such a relay may return like any other that was
 * never a peer.
 */
export async function purgeUnusedPeers({
  storage,
  runtime,
}: Pick<Services, "storage" | "runtime">): Promise<void> {
  await purgeInBatches(storage, purgePeers, { until: runtime.now() - UNUSED_PEER_MS });
}
