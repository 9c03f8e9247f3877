import { hexToBytes } from "@agent/crypto";
import { parseLogEntry } from "@agent/transparency";
import type { Reader } from "../../storage/storage.ts";
import { listEntriesByPrefix } from "./entry-store.ts";

const PREFIX_BYTES = 6;
const HASH_AT = 58;

/** Returns the first 6 bytes of an entry's artifact hash as a number. */
export function getIndexPrefix(entry: Uint8Array): number {
  return toNumber(entry.subarray(HASH_AT, HASH_AT + PREFIX_BYTES));
}

function toNumber(bytes: Uint8Array): number {
  return bytes.reduce((number, byte) => number * 256 + byte, 0);
}

/** An entry with its place in the log. */
export interface FoundEntry {
  readonly index: number;
  readonly entry: Uint8Array;
}

/** Finds the entries of an artifact below a signed head, oldest first. */
export async function findEntries(read: Reader, artifactHash: string): Promise<FoundEntry[]> {
  const prefix = toNumber(hexToBytes(artifactHash).subarray(0, PREFIX_BYTES));
  const rows = await listEntriesByPrefix(read, prefix);
  return rows
    .filter(({ entry }) => getArtifactHash(entry) === artifactHash)
    .map(({ idx, entry }) => ({ index: idx - 1, entry }));
}

/** Returns the hash of the artifact that an entry is about. */
export function getArtifactHash(entry: Uint8Array): string | undefined {
  const parsed = parseLogEntry(entry);
  return parsed.ok ? parsed.entry.artifactHash : undefined;
}
