import { limits } from "@agent/wire";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openMigrated } from "../../../test/stored/migrated-storage.ts";
import { migrations } from "../../storage/migrations/index.ts";
import type { Storage } from "../../storage/storage.ts";
import { MAX_GAP_MS, MAX_MISS_MS } from "./decide-span.ts";
import { purgeOnlineHistory } from "./purge-history.ts";
import { recordOnline } from "./record-online.ts";
import { listSpans, listWatches } from "./span-store.ts";

const MINUTE_MS = 60_000;
const AGENT = "01890000-0000-7000-8000-0000000000a1";

let storage: Storage;
beforeEach(async () => {
  const opened = await openMigrated({ path: ":memory:", migrations });
  if (!opened.ok) throw new Error(opened.detail);
  ({ storage } = opened);
});
afterEach(() => storage.close());

const sample = (at: number, online: readonly string[]) =>
  storage.transaction((tx) => recordOnline(tx, new Set(online), at));

type Times = readonly (readonly [since: number, until: number])[];

const inMinutes = (rows: readonly { since: number; until: number }[]): Times =>
  rows.map(({ since, until }) => [since / MINUTE_MS, until / MINUTE_MS]);

const readTimes = async (agent_id: string) => ({
  spans: inMinutes(await listSpans(storage.read, { agent_id, from: -1 })),
  watched: inMinutes(await listWatches(storage.read, -1)),
});

/** One character a minute: `#` is a sample with the agent, `.` one without it, and a blank is no sample. */
const patterns: readonly (readonly [pattern: string, spans: Times, watched: Times])[] = [
  ["#", [[0, 0]], [[0, 0]]],
  ["....", [], [[0, 3]]],
  ["..#..", [[2, 3]], [[0, 4]]],
  ["#####.", [[0, 5]], [[0, 5]]],
  ["##.###", [[0, 5]], [[0, 5]]],
  ["## ###", [[0, 5]], [[0, 5]]],
  [
    "##..##",
    [
      [0, 2],
      [4, 5],
    ],
    [[0, 5]],
  ],
  [
    "##  ##",
    [
      [0, 1],
      [4, 5],
    ],
    [
      [0, 1],
      [4, 5],
    ],
  ],
  [
    "##  ..",
    [[0, 1]],
    [
      [0, 1],
      [4, 5],
    ],
  ],
  [
    "##. ##",
    [
      [0, 2],
      [4, 5],
    ],
    [[0, 5]],
  ],
];

test.each(patterns)("the samples %j make the spans %j of %j", async (pattern, spans, watched) => {
  for (const [minute, sign] of Array.from(pattern).entries()) {
    if (sign !== " ") await sample(minute * MINUTE_MS, sign === "#" ? [AGENT] : []);
  }
  expect(await readTimes(AGENT)).toEqual({ spans, watched });
});

const jumps: readonly (readonly [
  title: string,
  samples: readonly (readonly [minute: number, sign: string])[],
  spans: Times,
  watched: Times,
])[] = [
  [
    "into an open span",
    [
      [0, "#"],
      [1, "#"],
      [2, "#"],
      [1, "#"],
      [2, "#"],
    ],
    [[0, 2]],
    [[0, 2]],
  ],
  [
    "before an open span",
    [
      [0, "."],
      [1, "."],
      [2, "#"],
      [3, "#"],
      [1, "#"],
      [2, "."],
    ],
    [[1, 2]],
    [[0, 2]],
  ],
  [
    "into a span that is over",
    [
      [0, "#"],
      [1, "#"],
      [2, "#"],
      [3, "."],
      [1, "."],
      [2, "."],
    ],
    [[0, 1]],
    [[0, 2]],
  ],
  [
    "before everything",
    [
      [90, "#"],
      [91, "#"],
      [5, "#"],
      [6, "#"],
    ],
    [[5, 6]],
    [[5, 6]],
  ],
  [
    "after it was ahead for a moment",
    [
      [0, "#"],
      [1, "#"],
      [5_000, "#"],
      [2, "#"],
      [3, "#"],
    ],
    [[0, 3]],
    [[0, 3]],
  ],
];

test.each(jumps)("a clock that goes back %s leaves no time in the future", async (...row) => {
  const [, samples, spans, watched] = row;
  for (const [minute, sign] of samples) {
    await sample(minute * MINUTE_MS, sign === "#" ? [AGENT] : []);
  }
  expect(await readTimes(AGENT)).toEqual({ spans, watched });
});

test("the spans of many agents are kept apart", async () => {
  const names = Array.from({ length: 1_500 }, (_, at) => `agent-${String(at).padStart(5, "0")}`);
  await sample(0, names);
  await sample(MINUTE_MS, names.slice(0, 700));
  await sample(2 * MINUTE_MS, names.slice(350));
  const read = async (at: number) => (await readTimes(names[at] ?? "")).spans;
  expect(await read(0)).toEqual([[0, 2]]);
  expect(await read(400)).toEqual([[0, 2]]);
  expect(await read(1_400)).toEqual([[0, 2]]);
  await sample(4 * MINUTE_MS, []);
  await sample(5 * MINUTE_MS, names.slice(0, 1));
  expect(await read(0)).toEqual([
    [0, 2],
    [5, 5],
  ]);
  expect(await read(400)).toEqual([[0, 4]]);
});

describe("whatever the clock does", () => {
  const step = fc.record({
    ms: fc.oneof(
      fc.constant(MINUTE_MS),
      fc.integer({ min: -20 * MINUTE_MS, max: 20 * MINUTE_MS }),
      fc.integer({ min: 0, max: MAX_GAP_MS + 2 }),
    ),
    isOnline: fc.boolean(),
  });

  test("spans are in order, do not touch, lie within a watch, and end no later than the newest sample", async () => {
    await fc.assert(
      fc.asyncProperty(fc.uuid(), fc.array(step, { maxLength: 40 }), async (agent, steps) => {
        let now = 100 * MINUTE_MS;
        // Each run begins behind all times of the run before, which it thereby cuts off.
        await sample(0, []);
        for (const { ms, isOnline } of steps) {
          now = Math.max(1, now + ms);
          await sample(now, isOnline ? [agent] : []);
          const spans = await listSpans(storage.read, { agent_id: agent, from: -1 });
          const watched = await listWatches(storage.read, -1);
          for (const [at, { since, until }] of spans.entries()) {
            expect(since).toBeLessThanOrEqual(until);
            expect(until).toBeLessThanOrEqual(now);
            const end = spans[at - 1]?.until ?? -Infinity;
            expect(since - end).toBeGreaterThan(MAX_MISS_MS);
            const isIn = watched.some((each) => each.since <= since && until <= each.until);
            expect(isIn).toBe(true);
          }
          expect(isOnline ? spans.at(-1)?.until : now).toBe(now);
        }
      }),
      { numRuns: 60 },
    );
  });
});

describe("the rows of an agent", () => {
  const WEEK_MS = limits.onlineHistoryMs;

  test("the number of rows of an agent that comes and goes is limited by the time for which they are kept", async () => {
    const minutes = 1_440;
    for (let minute = 0; minute < minutes; minute += 1) {
      await sample(minute * MINUTE_MS, minute % 3 === 0 ? [AGENT] : []);
    }
    const { spans } = await readTimes(AGENT);
    expect(spans).toHaveLength(minutes / 3);
    expect(minutes / 3).toBeLessThan((minutes * MINUTE_MS) / MAX_MISS_MS);
  });

  test("the rows of an agent are deleted a week after their end, but not before an open span has ended", async () => {
    const sampleAndPurge = async (now: number, online: readonly string[]) => {
      await sample(now, online);
      await purgeOnlineHistory({ storage, runtime: { now: () => now } });
    };
    await sampleAndPurge(0, [AGENT, "another"]);
    await sampleAndPurge(MINUTE_MS, ["another"]);
    const week = WEEK_MS / MINUTE_MS;
    // No sample in between, as if the relay had been off.
    await sampleAndPurge(WEEK_MS + MINUTE_MS, [AGENT]);
    expect(await readTimes(AGENT)).toEqual({
      spans: [
        [0, 1],
        [week + 1, week + 1],
      ],
      watched: [
        [0, 1],
        [week + 1, week + 1],
      ],
    });
    expect((await readTimes("another")).spans).toEqual([[0, 1]]);
    await sampleAndPurge(WEEK_MS + MINUTE_MS + 1, [AGENT]);
    const end = week + 1 + 1 / MINUTE_MS;
    expect(await readTimes(AGENT)).toEqual({
      spans: [[week + 1, end]],
      watched: [[week + 1, end]],
    });
    expect((await readTimes("another")).spans).toEqual([]);
  });
});
