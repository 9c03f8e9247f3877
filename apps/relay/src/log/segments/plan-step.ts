import type { LogSegmentRow } from "../../storage/tables/log.ts";

/** Only a level with more live segments is merged: the newest one of level 0 is still written to. */
export const MERGED_SEGMENTS = 16;

export type PlannedSegment = Omit<LogSegmentRow, "generation">;

/** The live segments of a level from the oldest to that which begins after `last` entries. */
export interface MergedSegments {
  readonly level: number;
  readonly last: number;
}

/** A small part of a merge, which is one transaction. */
export type MergeStep =
  | { readonly kind: "begin"; readonly merged: MergedSegments; readonly first: number }
  | { readonly kind: "copy"; readonly merged: MergedSegments; readonly target: PlannedSegment }
  | { readonly kind: "delete"; readonly segment: number };

/**
 * Plans the next merge from the segments in log order: 16 segments of a level become one of the next. Lower
 * levels come first, so that their segments do not accumulate during a long merge above them.
 */
export function planStep(segments: readonly PlannedSegment[]): MergeStep | undefined {
  const levels = new Set(segments.map(({ level }) => level));
  for (const level of [...levels].toSorted((one, other) => one - other)) {
    const step = planLevel(segments, level);
    if (step !== undefined) return step;
  }
  return undefined;
}

function planLevel(segments: readonly PlannedSegment[], level: number): MergeStep | undefined {
  const list = (at: number, state: PlannedSegment["state"]) =>
    segments.filter((each) => each.level === at && each.state === state);
  const [ended] = list(level, "ended");
  if (ended !== undefined) return { kind: "delete", segment: ended.segment };
  const live = list(level, "live");
  const [oldest, last] = [live[0], live[MERGED_SEGMENTS - 1]];
  if (oldest === undefined || last === undefined || live.length === MERGED_SEGMENTS) return;
  const merged = { level, last: last.first };
  const [target] = list(level + 1, "filling");
  return target === undefined
    ? { kind: "begin", merged, first: oldest.first }
    : { kind: "copy", merged, target };
}
