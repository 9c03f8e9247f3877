import { formatProofFile, proveInclusion } from "@agent/transparency";
import { refuse, type Answer, type Operations } from "@agent/wire";
import type { Services } from "../services.ts";
import type { Reader } from "../storage/storage.ts";
import { findEntries, type FoundEntry } from "./entries/find-entries.ts";
import { listUncoveredEntries } from "./entries/list-uncovered-entries.ts";
import { NOTE_MEDIA_TYPE } from "./published-log.ts";
import { readTile } from "./heads/read-tile.ts";
import { findNewestHead, findPublishedHead } from "./store.ts";

const headers = { "cache-control": "no-store" };

/**
 * Proves the first entry of an artifact under the published head, or under the newest one if the
 * published one does not cover it.
 */
export async function proveArtifact(
  { storage: { read } }: Pick<Services, "storage">,
  artifact: string,
): Promise<Answer<Operations["getLogProof"]>> {
  const [found] = await findEntries(read, artifact);
  if (found === undefined) {
    const uncovered = await listUncoveredEntries(read);
    return uncovered.has(artifact)
      ? { ...refuse("log.not_integrated"), retryAfterSeconds: 1, headers }
      : { ...refuse("log.entry_not_found"), headers };
  }
  const published = await findPublishedHead(read);
  const head =
    published !== undefined && published.size > found.index
      ? published
      : (await findNewestHead(read))!;
  const proof = await proveEntry(read, found, head.size);
  const content = formatProofFile({ ...found, proof, checkpoint: head.note });
  return { status: 200, mediaType: NOTE_MEDIA_TYPE, content, headers };
}

/** Builds the proof that an entry is in the tree of a head. */
export function proveEntry(read: Reader, { index }: FoundEntry, size: number) {
  return proveInclusion(index, size, (level, n, width) => readTile(read, level, n, width));
}
