import { asMicro } from "@agent/budget";
import type { Tx } from "../storage/storage.ts";
import { findTrustPair } from "./pair-store.ts";
import { saveTrustChange } from "./save-trust-change.ts";
import { listRecordsWithFees } from "./store.ts";

/**
 * Takes back that a payer left fees, as far as the relay lost the money they were paid with, in
 * micro-units. Its word about other agents then weighs less, so a reversed payment buys no level.
 */
export async function withdrawFees(tx: Tx, payerId: string, lost: number): Promise<void> {
  let remaining = lost;
  for (const stored of await listRecordsWithFees(tx, payerId)) {
    if (remaining <= 0) return;
    const fees = Math.min(remaining, stored.fees_kept);
    remaining -= fees;
    const before = await findTrustPair(tx, payerId, stored.remote_agent_id);
    await saveTrustChange(tx, {
      before,
      record: { ...stored, fees_kept: asMicro(stored.fees_kept - fees) },
    });
  }
}
