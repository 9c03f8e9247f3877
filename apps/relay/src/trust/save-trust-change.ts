import { asMicro } from "@agent/budget";
import {
  computeBacking,
  subtractBacking,
  type Backing,
  type PayerRecord,
} from "@agent/routing-semiring";
import type { Tx } from "../storage/storage.ts";
import type { TrustRecordRow } from "../storage/tables/trust.ts";
import { listGroupRecords } from "./backing/backing-store.ts";
import {
  addToFees,
  addToHistory,
  EMPTY_STEP,
  toBackingColumns,
  type HistoryStep,
} from "./history-store.ts";
import { toPayerRecord } from "./levels.ts";
import type { TrustPairState } from "./pair-store.ts";
import { saveTrustRecord } from "./store.ts";

/** A changed record, and what its task adds to the executor's public history. */
export interface TrustChange {
  readonly before: TrustPairState;
  readonly record: TrustRecordRow;
  readonly step?: HistoryStep | undefined;
  /** The part of the delegator's fees that its task used, in micro-units. */
  readonly usedFees?: number;
}

/**
 * Saves a delegator's record with everything that strangers see because of it: the executor's history, the
 * sums that back its level, and the fees of the delegator. No other function writes a record, so no change
 * of a level can leave them behind.
 */
export async function saveTrustChange(
  tx: Tx,
  { before, record, step, usedFees = 0 }: TrustChange,
): Promise<void> {
  const { agent_id: payer_id, remote_agent_id: agent_id } = record;
  await saveTrustRecord(tx, record);
  if (before.record?.trust_level !== record.trust_level) tx.noteChange("trust", payer_id, agent_id);
  const fees_paid = asMicro(record.fees_kept - (before.record?.fees_kept ?? 0));
  const change = await computeBackingChange(tx, before, record);
  const isBackingChanged = Object.values(change).some((amount) => amount !== 0);
  if (step === undefined && fees_paid === 0 && !isBackingChanged) return;
  const added = { ...(step ?? EMPTY_STEP), fees_kept: fees_paid, ...toBackingColumns(change) };
  await addToHistory(tx, { agent_id, ...added });
  if (fees_paid === 0 && usedFees === 0) return;
  await addToFees(tx, { agent_id: payer_id, fees_paid, fees_used: asMicro(usedFees) });
}

async function computeBackingChange(
  tx: Tx,
  { record: stored, groupId, thresholds }: TrustPairState,
  record: TrustRecordRow,
): Promise<Backing> {
  const { agent_id: except, remote_agent_id: executor } = record;
  const others: readonly PayerRecord[] =
    groupId === null ? [] : await listGroupRecords(tx, { executor, group_id: groupId, except });
  const own = stored === undefined ? [] : [toPayerRecord(stored)];
  const earlier = computeBacking([...others, ...own], thresholds);
  const later = computeBacking([...others, toPayerRecord(record)], thresholds);
  return subtractBacking(later, earlier);
}
