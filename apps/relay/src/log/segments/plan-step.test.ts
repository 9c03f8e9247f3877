import { describe, expect, test } from "vitest";
import { MERGED_SEGMENTS, planStep, type MergeStep, type PlannedSegment } from "./plan-step.ts";

const copied = new Uint8Array();

/** Builds segments in the order of the log: `0 live, 1 filling` is one of each level. */
function buildSegments(text: string): PlannedSegment[] {
  return text.split(", ").flatMap((part, at) => {
    const [level, state, count = "1"] = part.split(" ");
    return Array.from({ length: Number(count) }, (_, place) => ({
      segment: 100 * at + place,
      level: Number(level),
      first: 1_000 * at + place,
      state: state as PlannedSegment["state"],
      copied,
    }));
  });
}

const merged = { level: 0, last: 15 };

describe("the next step", () => {
  test.each<[string, string, MergeStep | undefined]>([
    ["without segments does nothing", "0 live 0", undefined],
    ["of 16 segments does nothing, because the newest one grows", "0 live 16", undefined],
    ["of 17 segments begins a merge", "0 live 17", { kind: "begin", merged, first: 0 }],
    ["of 40 segments merges the oldest 16", "0 live 40", { kind: "begin", merged, first: 0 }],
    [
      "of a merge that began copies",
      "0 live 17, 1 filling",
      { kind: "copy", merged, target: buildSegments("0 live 0, 1 filling")[0]! },
    ],
    ["after a merge deletes", "0 ended 16, 0 live, 1 live", { kind: "delete", segment: 0 }],
    [
      "comes before a merge of the same level",
      "0 live 17, 0 ended",
      { kind: "delete", segment: 100 },
    ],
    [
      "of a higher level waits for a lower one",
      "1 live 17, 0 live 17, 2 filling",
      { kind: "begin", merged: { level: 0, last: 1_015 }, first: 1_000 },
    ],
    [
      "of a higher level comes when the lower ones are merged",
      "1 live 17, 0 live 16",
      { kind: "begin", merged: { level: 1, last: 15 }, first: 0 },
    ],
    [
      "of a lower level does not take the target of a higher one",
      "1 live 17, 0 live 3, 2 filling",
      {
        kind: "copy",
        merged: { level: 1, last: 15 },
        target: buildSegments("0 live 0, 0 live 0, 2 filling")[0]!,
      },
    ],
    ["deletes a segment of a higher level", "2 ended, 0 live 2", { kind: "delete", segment: 0 }],
  ])("the next step %s", (_, text, step) => {
    expect(planStep(buildSegments(text))).toEqual(step);
  });
});

test("one step for every 64 entries keeps the number of segments small for 4 million entries", () => {
  const segments: (PlannedSegment & { rows: number; left: number })[] = [];
  const add = (level: number, first: number, state: PlannedSegment["state"], rows: number) =>
    segments.push({ segment: segments.length, level, first, state, copied, rows, left: rows });
  let most = 0;
  for (let size = 0; size < 4_000_000; size += 64) {
    if (size % 1_024 === 0) add(0, size, "live", 1_024);
    const listed = segments.filter(({ rows }) => rows > 0).toSorted((a, b) => a.first - b.first);
    most = Math.max(most, listed.length);
    const step = planStep(listed);
    if (step?.kind === "begin") {
      const rows = 1_024 * MERGED_SEGMENTS ** (step.merged.level + 1);
      add(step.merged.level + 1, step.first, "filling", rows);
    } else if (step?.kind === "copy") {
      const target = segments[step.target.segment]!;
      // The slice ends with the source whose rows end first, so a step copies fewer than 1,024 rows.
      if ((target.left -= 700) > 0) continue;
      Object.assign(target, { state: "live", left: target.rows });
      for (const each of segments) {
        const { level, last } = step.merged;
        if (each.level === level && each.first <= last) each.state = "ended";
      }
    } else if (step?.kind === "delete") {
      const ended = segments[step.segment]!;
      if ((ended.left -= 1_024) <= 0) ended.rows = 0;
    }
  }

  expect(most).toBeLessThan(4 * 2 * MERGED_SEGMENTS);
});
