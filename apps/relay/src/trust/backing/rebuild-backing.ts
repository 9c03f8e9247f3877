import { sumPayerBacking, type TrustThresholds } from "@agent/routing-semiring";
import type { Storage, Tx } from "../../storage/storage.ts";
import {
  getTrustThresholds,
  listHistoryIds,
  listPayerRecords,
  saveTrustThresholds,
} from "./backing-store.ts";
import { replaceBacking } from "../history-store.ts";

const PAGE_SIZE = 100;

/**
 * Recomputes the backing of every executor if the thresholds differ from those of the last start. The
 * thresholds are stored last, so an interrupted start begins again.
 */
export async function applyTrustThresholds(
  storage: Pick<Storage, "read" | "transaction">,
  thresholds: TrustThresholds,
): Promise<void> {
  const stored = await getTrustThresholds(storage.read);
  if (stored.verified === thresholds.verified && stored.trusted === thresholds.trusted) return;
  let after = "";
  for (;;) {
    const ids = await listHistoryIds(storage.read, after, PAGE_SIZE);
    const last = ids.at(-1);
    if (last === undefined) break;
    await storage.transaction(async (tx) => {
      for (const id of ids) await rebuildBacking(tx, id, thresholds);
    });
    after = last;
  }
  await storage.transaction((tx) => saveTrustThresholds(tx, thresholds));
}

/** Computes an executor's backing from all records about it. */
export async function rebuildBacking(
  tx: Tx,
  executorId: string,
  thresholds: TrustThresholds,
): Promise<void> {
  const held = await listPayerRecords(tx, executorId);
  await replaceBacking(tx, executorId, sumPayerBacking(held, thresholds));
}
