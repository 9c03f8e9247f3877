import { getTrustScore, type TrustLevel, type TrustRecord } from "@agent/routing-semiring";
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

export function levelName(level: number): TrustLevel {
  return levelNames[level] ?? "unknown";
}

export function scoreOfLevel(level: number): number {
  return getTrustScore(levelName(level));
}

/** Converts a stored record to the form of the rules and the contract. */
export function toTrustRecord(row: TrustRecordRow): TrustRecord {
  const { paid_tasks: _, ...shown } = row;
  return {
    ...shown,
    trust_level: levelName(row.trust_level),
    trust_score: scoreOfLevel(row.trust_level),
  };
}

export function toTrustRow(record: TrustRecord, paid_tasks: number): TrustRecordRow {
  const { trust_score: _, ...stored } = record;
  return { ...stored, trust_level: levelNames.indexOf(record.trust_level), paid_tasks };
}
