import { hexToBytes } from "@agent/crypto";
import { parseLogEntry } from "@agent/transparency";
import type { Reader } from "../../storage/storage.ts";
import { listEntriesByPrefix } from "../segments/segment-store.ts";

/** An entry with its place in the log. */
export interface FoundEntry {
  readonly index: number;
  readonly entry: Uint8Array;
}

/** Finds the entries of an artifact below a signed head, oldest first. */
export async function findEntries(read: Reader, artifactHash: string): Promise<FoundEntry[]> {
  const rows = await listEntriesByPrefix(read, hexToBytes(artifactHash));
  return rows
    .filter(({ entry }) => getArtifactHash(entry) === artifactHash)
    .map(({ idx, entry }) => ({ index: idx - 1, entry }));
}

/** Returns the hash of the artifact that an entry is about. */
export function getArtifactHash(entry: Uint8Array): string | undefined {
  const parsed = parseLogEntry(entry);
  return parsed.ok ? parsed.entry.artifactHash : undefined;
}
