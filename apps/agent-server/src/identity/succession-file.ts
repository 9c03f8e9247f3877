import type { SuccessionRecord } from "@agent/crypto";
import { readFileIfPresent } from "@agent/crypto/private-file";
import { join } from "node:path";
import * as v from "valibot";
import { writePrivateFile } from "../files/private-file.ts";

const RecordsSchema = v.array(v.looseObject({ new_public_key: v.string() }));

function successionFilePath(dataDir: string): string {
  return join(dataDir, "identity.succession.json");
}

/**
 * Loads the succession records up to this key, oldest first. A relay that knows only a former key, for
 * example from a restored backup, needs them to accept this one.
 */
export async function loadSuccession(
  dataDir: string,
  publicKey: string,
): Promise<readonly SuccessionRecord[]> {
  const records = await loadRecords(dataDir);
  return records.slice(0, records.findIndex((record) => record.new_public_key === publicKey) + 1);
}

/** Stores a record as the newest one, in place of one of an interrupted change to the same key. */
export async function addSuccession(dataDir: string, record: SuccessionRecord): Promise<void> {
  const earlier = await loadRecords(dataDir);
  const others = earlier.filter(({ new_public_key: key }) => key !== record.new_public_key);
  await writePrivateFile(successionFilePath(dataDir), [...others, record]);
}

async function loadRecords(dataDir: string): Promise<readonly SuccessionRecord[]> {
  const text = await readFileIfPresent(successionFilePath(dataDir));
  if (text === undefined) return [];
  // Relays check the records themselves; each is signed.
  return v.parse(RecordsSchema, JSON.parse(text)) as unknown as readonly SuccessionRecord[];
}
