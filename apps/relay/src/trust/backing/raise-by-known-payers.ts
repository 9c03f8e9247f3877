import {
  computeBacking,
  selectBackedLevel,
  subtractBacking,
  sumBacking,
} from "@agent/routing-semiring";
import type { Reader } from "../../storage/storage.ts";
import { getTrustThresholds } from "./backing-store.ts";
import { levelIndex, toPayerRecord, TRUSTED } from "../levels.ts";
import { listKnownAgents, listKnownPayerRecords } from "./known-payer-store.ts";

interface ShownProfile {
  readonly agent_id: string;
  readonly own_level: number | null;
  readonly payers_level: number | null;
}

/**
 * Raises the shown level of agents whose payers the reader has paid itself or trusts at least as
 * `verified`: their trust counts in full without fees (docs/trust.md). Only for pages that show levels,
 * because in rankings the route through such a payer replaces the level.
 */
export async function raiseByKnownPayers<Profile extends ShownProfile>(
  read: Reader,
  reader: string,
  profiles: readonly Profile[],
): Promise<readonly Profile[]> {
  const canRise = ({ own_level, payers_level }: Profile) =>
    own_level === null && (payers_level ?? 0) < TRUSTED;
  if (reader === "" || !profiles.some(canRise)) return profiles;
  const known = await listKnownAgents(read, reader);
  if (known.length === 0) return profiles;
  const raised: Profile[] = [];
  for (const profile of profiles) {
    const level = canRise(profile)
      ? await getRaisedLevel(read, profile.agent_id, known)
      : undefined;
    raised.push(level === undefined ? profile : { ...profile, payers_level: level });
  }
  return raised;
}

async function getRaisedLevel(
  read: Reader,
  executor: string,
  known: readonly string[],
): Promise<number | undefined> {
  const records = await listKnownPayerRecords(read, executor, known);
  const [first] = records;
  if (first === undefined) return undefined;
  const thresholds = await getTrustThresholds(read);
  const raises = records.map((row) => {
    const record = toPayerRecord(row);
    const counted = computeBacking([record], thresholds);
    const full = computeBacking([{ ...record, isKnown: true }], thresholds);
    return subtractBacking(full, counted);
  });
  const backing = {
    first_contact: first.first_contact_backing,
    verified: first.verified_backing,
    trusted: first.trusted_backing,
  };
  return levelIndex(selectBackedLevel(sumBacking([backing, ...raises]), thresholds));
}
