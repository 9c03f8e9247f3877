import { capLevelByFees, type TrustLevel } from "@agent/routing-semiring";
import type { Config } from "../config/config.ts";
import type { TrustRecordRow } from "../storage/tables/trust.ts";
import { levelName, UNKNOWN } from "../trust/levels.ts";
import type { RecordedOutcome } from "../trust/record-trust-outcome.ts";
import { getFeesKeptBand } from "./fees-kept-band.ts";

/** Returns the level that the relay states of a pair: none above what the fees of the pair back. */
export function getStatedLevel(
  { trust_level, fees_kept }: TrustRecordRow,
  { thresholds }: Config["trust"],
): TrustLevel {
  return capLevelByFees(levelName(trust_level), fees_kept, thresholds);
}

/** Whether a task changed what the relay states of a pair: its level, or the band of its fees. */
export function isStatementChanged(
  { before, record }: RecordedOutcome,
  trust: Config["trust"],
): boolean {
  if (record.trust_level !== (before?.trust_level ?? UNKNOWN)) return true;
  if (before === undefined) return getFeesKeptBand(record.fees_kept) !== "0";
  return (
    getStatedLevel(record, trust) !== getStatedLevel(before, trust) ||
    getFeesKeptBand(record.fees_kept) !== getFeesKeptBand(before.fees_kept)
  );
}
