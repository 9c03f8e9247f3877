import {
  getTrustScore,
  type PayerRecord,
  type TrustLevel,
  type TrustRecord,
} from "@agent/routing-semiring";
import type { TrustRecordRow } from "../storage/tables/trust.ts";

/** Levels are stored as an index, so that the database can order by it. */
const levelNames: readonly TrustLevel[] = [
  "blocked",
  "unknown",
  "first_contact",
  "verified",
  "trusted",
];

export const BLOCKED = 0;
export const UNKNOWN = 1;
export const VERIFIED = 3;
export const TRUSTED = 4;

export function levelIndex(level: TrustLevel): number {
  return levelNames.indexOf(level);
}

export function levelName(level: number): TrustLevel {
  return levelNames[level] ?? "unknown";
}

export function scoreOfLevel(level: number): number {
  return getTrustScore(levelName(level));
}

/** Converts a stored record to the form of the rules and the contract. */
export function toTrustRecord(row: TrustRecordRow): TrustRecord {
  const { paid_tasks: _, fees_kept: __, ...shown } = row;
  return {
    ...shown,
    trust_level: levelName(row.trust_level),
    trust_score: scoreOfLevel(row.trust_level),
  };
}

/** The counters of a record that no one is shown. */
export type PaidCounters = Pick<TrustRecordRow, "paid_tasks" | "fees_kept">;

export function toTrustRow(record: TrustRecord, paid: PaidCounters): TrustRecordRow {
  const { trust_score: _, ...stored } = record;
  const { paid_tasks, fees_kept } = paid;
  return { ...stored, trust_level: levelIndex(record.trust_level), paid_tasks, fees_kept };
}

/** Converts a stored record to what it says about its executor. */
export function toPayerRecord(
  row: Pick<TrustRecordRow, "trust_level" | "paid_tasks" | "fees_kept">,
): PayerRecord {
  return {
    level: levelName(row.trust_level),
    feesKept: row.fees_kept,
    paidTasks: row.paid_tasks,
  };
}

/** The levels of an agent as a reader's profile query finds them. */
interface ProfileLevels {
  readonly own_level: number | null;
  readonly payers_level: number | null;
}

/**
 * Returns the level of an agent for a reader: that of the reader's own record, otherwise that backed by the
 * agent's payers.
 */
export function getLevelForReader({ own_level, payers_level }: ProfileLevels): number {
  return own_level ?? payers_level ?? UNKNOWN;
}
