import { uuidV7 } from "@agent/crypto";
import type { RoutingRecord } from "@agent/routing-semiring";
import { HOUR_MS } from "../clock/durations.ts";
import type { Services } from "../services.ts";
import { purgeInBatches } from "../storage/run-in-batches.ts";
import type { Reader, Tx } from "../storage/storage.ts";
import { findDecision, purgeDecisions, insertDecision } from "./decision-store.ts";

export async function saveDecision(tx: Tx, task_id: string, record: RoutingRecord): Promise<void> {
  await insertDecision(tx, { task_id, record: JSON.stringify(record) });
}

/** Returns the stored routing decision of a task, if there is one. */
export async function findDecisionText(read: Reader, task_id: string): Promise<string | undefined> {
  return (await findDecision(read, task_id))?.record;
}

/** Deletes decisions whose tasks were purged; decisions of tasks being submitted are too recent. */
export async function purgeOldDecisions({
  storage,
  runtime,
}: Pick<Services, "storage" | "runtime">): Promise<void> {
  const before = uuidV7(runtime.now() - HOUR_MS, new Uint8Array(10));
  await purgeInBatches(storage, purgeDecisions, { before });
}
