import { formatProofFile, proveInclusion } from "@agent/transparency";
import { refuse, type Answer, type Operations } from "@agent/wire";
import { NO_STORE } from "../http/caching.ts";
import type { Services } from "../services.ts";
import type { Reader } from "../storage/storage.ts";
import { listEntriesAfter } from "./entries/entry-store.ts";
import { findEntries, type FoundEntry, getArtifactHash } from "./entries/find-entries.ts";
import { NOTE_MEDIA_TYPE } from "./published-log.ts";
import { readTile } from "./heads/read-tile.ts";
import { findNewestHead, findPublishedHead } from "./store.ts";

/** More entries wait only while no head is signed; to search them for a request would take seconds. */
const MAX_SEARCHED = 4_096;

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
    return (await mayWait(read, artifact))
      ? { ...refuse("log.not_integrated"), retryAfterSeconds: 1, headers: NO_STORE }
      : { ...refuse("log.entry_not_found"), headers: NO_STORE };
  }
  const published = await findPublishedHead(read);
  const head =
    published !== undefined && published.size > found.index
      ? published
      : (await findNewestHead(read))!;
  const proof = await proveEntry(read, found, head.size);
  const content = formatProofFile({ ...found, proof, checkpoint: head.note });
  return { status: 200, mediaType: NOTE_MEDIA_TYPE, content, headers: NO_STORE };
}

/**
 * Returns whether an entry of an artifact waits for a head, or may do so. Entries usually wait for a
 * fraction of a second, but while no head is signed all new ones wait, and anyone may request a proof.
 */
async function mayWait(read: Reader, artifact: string): Promise<boolean> {
  const after = (await findNewestHead(read))?.size ?? 0;
  const waiting = await listEntriesAfter(read, { after, limit: MAX_SEARCHED + 1 });
  return (
    waiting.length > MAX_SEARCHED || waiting.some((entry) => getArtifactHash(entry) === artifact)
  );
}

/** Builds the proof that an entry is in the tree of a head. */
export function proveEntry(read: Reader, { index }: FoundEntry, size: number) {
  return proveInclusion(index, size, (level, n, width) => readTile(read, level, n, width));
}
