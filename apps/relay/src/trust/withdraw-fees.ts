import { asMicro } from "@agent/budget";
import type { Tx } from "../storage/storage.ts";
import { findTrustPair } from "./pair-store.ts";
import { saveTrustChange } from "./save-trust-change.ts";
import { listRecordsWithFees } from "./store.ts";

/**
 * Withdraws the fees credited to a payer, as far as the relay lost the money they were paid with, in
 * micro-units. The payer's trust in other agents then counts less, so that a reversed payment buys no
 * level.
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
