import { hashTag, parseLogEntry } from "@agent/transparency";
import type { Reader } from "../../storage/storage.ts";
import { listEntriesBefore } from "./entry-store.ts";
import { findLogState } from "../store.ts";

/** Few enough that a page delays other requests by milliseconds only. */
const PAGE_ENTRIES = 1_000;

/** The tasks whose settlement the log has. */
export interface SettledTasks {
  /** The time since which the log has every settlement. */
  readonly from: number;
  has(taskId: string): boolean;
}

/** Lists the tasks with a settlement in the log since a time; undefined while the log is off. */
export async function listSettledTasks(
  snapshot: <T>(work: (read: Reader) => Promise<T>) => Promise<T>,
  since: number,
): Promise<SettledTasks | undefined> {
  const state = await snapshot(findLogState);
  if (state === undefined || state.is_on === 0) return undefined;
  const from = Math.max(since, state.began_at);
  // A part of the tag suffices to distinguish tasks, and takes little memory for a million of them.
  const tags = new Set<number>();
  for (let before = Number.MAX_SAFE_INTEGER; ;) {
    const query = { before, limit: PAGE_ENTRIES };
    const page = await snapshot((read) => listEntriesBefore(read, query));
    let isOlder = false;
    for (const { entry } of page) {
      const parsed = parseLogEntry(entry);
      if (!parsed.ok) continue;
      const { kind, time, refTag } = parsed.entry;
      isOlder ||= time < from;
      if (kind === "settlement") tags.add(shorten(refTag));
    }
    const last = page.at(-1);
    if (last === undefined || isOlder || page.length < PAGE_ENTRIES) break;
    before = last.idx;
  }
  return {
    from,
    has: (taskId) => tags.has(shorten(Buffer.from(hashTag("ref", taskId)).toString("hex"))),
  };
}

const shorten = (tag: string) => Number.parseInt(tag.slice(0, 12), 16);
