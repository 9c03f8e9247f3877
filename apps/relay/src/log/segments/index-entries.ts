import type { Tx } from "../../storage/storage.ts";
import { insertSegment, insertSegmentRows, listSegments } from "./segment-store.ts";

/** Few enough that the heads of some seconds write the same pages again. */
const SEGMENT_ENTRIES = 1_024;

/** Adds the entries behind the first `after`, up to a size of the log, to its newest segment. */
export async function indexEntries(tx: Tx, after: number, size: number): Promise<void> {
  const segments = await listSegments(tx);
  const newest = segments.findLast(({ level, state }) => level === 0 && state === "live");
  const segment =
    newest !== undefined && after < newest.first + SEGMENT_ENTRIES
      ? newest.segment
      : await insertSegment(tx, segments, { level: 0, first: after, state: "live" });
  await insertSegmentRows(tx, { segment, after, size });
}
