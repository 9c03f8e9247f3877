import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createSeededRandom, type SeededRandom } from "@agent/testkit";
import { buildLogEntry } from "@agent/transparency";
import { afterAll, afterEach, expect, test } from "vitest";
import { openMigrated } from "../../../test/migrated-storage.ts";
import { logSegments } from "../../storage/migrations/051-log-segments.ts";
import { migrations } from "../../storage/migrations/index.ts";
import { compile, param, queryBuilder, sql } from "../../storage/queries/compiled-query.ts";
import type { Storage, Tx } from "../../storage/storage.ts";
import { appendLog } from "../entries/append.ts";
import { countEntries, listEntriesAfter } from "../entries/entry-store.ts";
import { findEntries, getArtifactHash } from "../entries/find-entries.ts";
import { clearLog, saveLogState } from "../store.ts";
import { indexEntries } from "./index-entries.ts";
import { mergeSegments, runStep } from "./merge-segments.ts";
import { planStep } from "./plan-step.ts";
import { insertSegment, insertSegmentRows, listSegments } from "./segment-store.ts";

const folder = mkdtempSync(join(tmpdir(), "relay-segments-"));
let storage: Storage;
afterEach(() => storage.close());
afterAll(() => rmSync(folder, { recursive: true }));

async function open(path = ":memory:", known = migrations): Promise<void> {
  const opened = await openMigrated({ path, migrations: known });
  if (!opened.ok) throw new Error(opened.detail);
  ({ storage } = opened);
}

const beginGeneration = (tx: Tx, generation = 0) =>
  saveLogState(tx, {
    one: 1,
    origin: "log.example",
    generation,
    incarnation: 0,
    is_on: 1,
    began_at: 0,
    keys_entered: 1,
    published: 0,
    root_key: null,
  });

/** Opens a log; each test has one of its own. */
async function openLog(path?: string): Promise<void> {
  await open(path);
  await storage.transaction((tx) => beginGeneration(tx));
}

/** A hash whose first 6 bytes are a number. */
const hashOf = (prefix: number, rest = 0) =>
  prefix.toString(16).padStart(12, "0") + rest.toString(16).padStart(52, "0");

/** Appends entries of artifacts and returns the number of entries before them. */
async function append(tx: Tx, hashes: readonly string[]): Promise<number> {
  const before = await countEntries(tx);
  for (const artifactHash of hashes) {
    await appendLog(tx, () => buildLogEntry({ kind: "receipt", time: 1, artifactHash }));
  }
  return before;
}

/** Appends entries in a segment of their own, however few they are. */
const appendSegment = (hashes: readonly string[]) =>
  storage.transaction(async (tx) => {
    const after = await append(tx, hashes);
    const added = { level: 0, first: after, state: "live" } as const;
    const segment = await insertSegment(tx, await listSegments(tx), added);
    await insertSegmentRows(tx, { segment, after, size: after + hashes.length });
  });

const oldIndexQuery = compile<{ prefix: number; idx: number }>()(
  queryBuilder.insertInto("log_index").values({ prefix: param("prefix"), idx: param("idx") }),
);

/** Appends entries as a process of an older version does while it leads. */
const appendAsOlder = (hashes: readonly string[]) =>
  storage.transaction(async (tx) => {
    let idx = await append(tx, hashes);
    for (const hash of hashes) {
      await tx.run(oldIndexQuery, {
        prefix: Number.parseInt(hash.slice(0, 12), 16),
        idx: (idx += 1),
      });
    }
  });

const isIdle = async () => planStep(await listSegments(storage.read)) === undefined;

async function runAllSteps(): Promise<void> {
  while (!(await isIdle())) await storage.transaction(runStep);
}

/** Compares what is found of each artifact with a scan of the entries. */
async function expectFound(absent: readonly string[] = []): Promise<void> {
  const scanned = new Map<string, number[]>(absent.map((hash) => [hash, []]));
  const entries = await listEntriesAfter(storage.read, { after: 0, limit: 100_000 });
  for (const [index, entry] of entries.entries()) {
    const hash = getArtifactHash(entry)!;
    scanned.set(hash, [...(scanned.get(hash) ?? []), index]);
  }
  for (const [hash, indexes] of scanned) {
    const found = await findEntries(storage.read, hash);
    expect(found.map(({ index }) => index)).toEqual(indexes);
  }
}

const rowCounts = compile()(sql<{ segment: number; count: number }>`
  select segment, count(*) as count from log_segment_rows group by segment
  order by segment`);

async function countRows(): Promise<Map<number, number>> {
  const rows = await storage.read.all(rowCounts, {});
  return new Map(rows.map(({ segment, count }) => [segment, count]));
}

/** Does something that may happen to a log: most often new entries or some steps of a merge. */
async function actOnLog(random: SeededRandom, path: string): Promise<void> {
  // Few enough that artifacts are entered again, and that some share their prefix.
  const pickHash = () => hashOf(random.below(400) * 2 ** 39, random.below(3));
  const pickHashes = (most: number) => Array.from({ length: 1 + random.below(most) }, pickHash);
  const kind = random.below(40);
  if (kind === 0) await appendAsOlder(pickHashes(9));
  else if (kind === 1) {
    await storage.close();
    await open(path);
  } else if (kind < 4) {
    const crashed = storage.transaction(async (tx) => {
      await runStep(tx);
      throw new Error("a crash");
    });
    await crashed.catch(() => {});
  } else if (kind < 25) await appendSegment(pickHashes(30));
  else await mergeSegments(storage, 64 * (1 + random.below(12)));
}

const restart = () =>
  storage.transaction(async (tx) => {
    await clearLog(tx);
    await beginGeneration(tx, 1);
  });

test.each([1, 2, 3])(
  "finds what a scan finds, whatever the order of appends, merges and crashes (seed %i)",
  async (seed) => {
    const path = join(folder, randomUUID());
    await openLog(path);
    const random = createSeededRandom(seed);
    for (let turn = 0; turn < 160; turn += 1) {
      if (seed === 3 && turn === 70) await restart();
      await actOnLog(random, path);
      if (turn % 20 === 19) await expectFound([hashOf(1)]);
    }
    await runAllSteps();
    await expectFound([hashOf(1)]);
    const segments = await listSegments(storage.read);
    expect(new Set(segments.map(({ state }) => state))).toEqual(new Set(["live"]));
    expect(Math.max(...segments.map(({ level }) => level))).toBe(1);
    expect(new Set((await countRows()).keys())).toEqual(
      new Set(segments.map(({ segment }) => segment)),
    );
  },
);

test("a step of a merge moves at most 1,024 rows, however the hashes are distributed", async () => {
  await openLog();
  const random = createSeededRandom(4);
  for (let segment = 0; segment < 17; segment += 1) {
    const width = segment % 2 === 0 ? 2 ** 40 : 2 ** 20;
    const pickHash = () => hashOf(random.below(width));
    await appendSegment(Array.from({ length: segment === 3 ? 1_500 : 100 }, pickHash));
  }
  let before = await countRows();
  for (let steps = 0; !(await isIdle()); steps += 1) {
    await storage.transaction(runStep);
    const after = await countRows();
    const changes = [...new Set([...before.keys(), ...after.keys()])].map((segment) =>
      Math.abs((after.get(segment) ?? 0) - (before.get(segment) ?? 0)),
    );
    expect(Math.max(...changes)).toBeLessThanOrEqual(1_024);
    expect(changes.filter((change) => change > 0).length).toBeLessThanOrEqual(1);
    before = after;
  }
  expect([...before.values()].toSorted((a, b) => a - b)).toEqual([100, 3_000]);
  await expectFound();
});

test("more entries of one artifact than a step copies are all found", async () => {
  await openLog();
  for (let segment = 0; segment < 17; segment += 1) {
    await appendSegment(Array.from({ length: 70 }, () => hashOf(7)));
  }
  await runAllSteps();
  expect(await findEntries(storage.read, hashOf(7))).toHaveLength(17 * 70);
  await expectFound([hashOf(6), hashOf(8)]);
});

test("a head of many entries runs more steps than one of few, and no more than there are", async () => {
  await openLog();
  for (let segment = 0; segment < 17; segment += 1) await appendSegment([hashOf(segment)]);
  await mergeSegments(storage, 1);
  expect((await listSegments(storage.read)).map(({ state }) => state)).toContain("filling");
  await mergeSegments(storage, 1_000);
  expect(await listSegments(storage.read)).toMatchObject([
    { level: 1, state: "live", first: 0 },
    { level: 0, state: "ended", first: 15 },
    { level: 0, state: "live", first: 16 },
  ]);
  await mergeSegments(storage, 1);
  expect(await listSegments(storage.read)).toHaveLength(2);
  await mergeSegments(storage, 1);
  expect(await listSegments(storage.read)).toHaveLength(2);
});

test("a segment gets the entries of heads until it has 1,024", async () => {
  await openLog();
  for (const count of [1_000, 500, 1_024, 1]) {
    await storage.transaction(async (tx) => {
      const after = await append(
        tx,
        Array.from({ length: count }, (_, at) => hashOf(at)),
      );
      await indexEntries(tx, after, after + count);
    });
  }
  const segments = await listSegments(storage.read);
  expect(segments.map(({ first }) => first)).toEqual([0, 1_500, 2_524]);
  expect([...(await countRows()).values()]).toEqual([1_500, 1_024, 1]);
  await expectFound();
});

test("entries that were indexed before there were segments are found, beside newer ones", async () => {
  const path = join(folder, randomUUID());
  await open(path, migrations.slice(0, migrations.indexOf(logSegments)));
  await storage.transaction((tx) => beginGeneration(tx));
  await appendAsOlder([hashOf(2 ** 47 + 5), hashOf(3), hashOf(2 ** 47 + 5)]);
  await storage.close();
  await open(path);
  await appendSegment([hashOf(3), hashOf(4)]);
  await expectFound([hashOf(5)]);
  expect(await findEntries(storage.read, hashOf(3))).toMatchObject([{ index: 1 }, { index: 3 }]);
});

test("nothing of an older generation is found or kept", async () => {
  await openLog();
  const hashes = Array.from({ length: 20 }, (_, at) => hashOf(at));
  for (const hash of hashes) await appendSegment([hash]);
  await mergeSegments(storage, 64);
  await restart();
  await storage.transaction((tx) => append(tx, hashes));
  for (const hash of hashes) expect(await findEntries(storage.read, hash)).toEqual([]);
  await storage.transaction((tx) => indexEntries(tx, 0, hashes.length));
  await expectFound();
  await runAllSteps();
  expect(await listSegments(storage.read)).toMatchObject([{ level: 0, first: 0, state: "live" }]);
  expect([...(await countRows()).values()]).toEqual([20]);
});
