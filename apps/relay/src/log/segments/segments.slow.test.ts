import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { createSeededRandom, type SeededRandom } from "@agent/testkit";
import { afterAll, afterEach, expect, test } from "vitest";
import { toEngineEnv } from "../../../test/engine/database-of-path.ts";
import {
  appendHashes,
  appendSegment,
  beginLog,
  hashOf,
} from "../../../test/stored/log-segments.ts";
import { openMigrated } from "../../../test/stored/migrated-storage.ts";
import { logSegments } from "../../storage/migrations/051-log-segments.ts";
import { migrations } from "../../storage/migrations/index.ts";
import { compile, param, queryBuilder, sql } from "../../storage/queries/compiled-query.ts";
import type { Storage } from "../../storage/storage.ts";
import { listEntriesAfter } from "../entries/entry-store.ts";
import { findEntries, getArtifactHash } from "../entries/find-entries.ts";
import { clearLog } from "../store.ts";
import { indexEntries } from "./index-entries.ts";
import { mergeSegments, runStep } from "./merge-segments.ts";
import { planStep } from "./plan-step.ts";
import { listSegments } from "./segment-store.ts";

const folder = mkdtempSync(join(tmpdir(), "relay-segments-"));
let storage: Storage;
afterEach(() => storage.close());
afterAll(() => rmSync(folder, { recursive: true }));

async function open(path = ":memory:", known = migrations): Promise<void> {
  const opened = await openMigrated({ path, migrations: known });
  if (!opened.ok) throw new Error(opened.detail);
  ({ storage } = opened);
}

/** Opens a log; each test has its own. */
async function openLog(path?: string): Promise<void> {
  await open(path);
  await storage.transaction((tx) => beginLog(tx));
}

const oldIndexQuery = compile<{ prefix: number; idx: number }>()(
  queryBuilder.insertInto("log_index").values({ prefix: param("prefix"), idx: param("idx") }),
);

/** Appends entries as a process of an older version does while it leads. */
const appendAsOlder = (hashes: readonly string[]) =>
  storage.transaction(async (tx) => {
    let idx = await appendHashes(tx, hashes);
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

/** Compares the entries that the index finds for each artifact with a scan of all entries. */
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
  // So few artifacts that some are entered again, and that some share their prefix.
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
  } else if (kind < 25) await appendSegment(storage, pickHashes(30));
  else await mergeSegments(storage, 64 * (1 + random.below(12)));
}

const restart = () =>
  storage.transaction(async (tx) => {
    await clearLog(tx);
    await beginLog(tx, 1);
  });

test.each([1, 2, 3])(
  "the index finds what a scan finds, whatever the order of appends, merges and crashes (seed %i)",
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

/** Runs the process that merges without end, and kills it after a number of its steps. */
async function killMerging(path: string, steps: number): Promise<void> {
  const program = fileURLToPath(
    new URL("../../../test/processes/merging-process.ts", import.meta.url),
  );
  const child = spawn(process.execPath, ["--conditions=agent-source", program], {
    env: { ...process.env, ...toEngineEnv({ AGENT_DB_PATH: path }) },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(child, "exit");
  let left = steps;
  createInterface({ input: child.stdout }).on("line", () => {
    if ((left -= 1) === 0) child.kill("SIGKILL");
  });
  expect(await ended).toEqual([null, "SIGKILL"]);
}

test("the index finds what a scan finds after kill -9 during merges, which then go on", async () => {
  const path = join(folder, randomUUID());
  await openLog(path);
  for (const steps of [8, 24, 24]) {
    await storage.close();
    await killMerging(path, steps);
    await open(path);
    await expectFound([hashOf(1)]);
  }
  expect(await isIdle()).toBe(false);
  await runAllSteps();
  await expectFound([hashOf(1)]);
});

const random = createSeededRandom(4);

test.each<[string, (segment: number, at: number) => number]>([
  ["evenly", (_, at) => at * 2 ** 30],
  ["by chance", () => random.below(2 ** 48)],
  ["differently in each segment", (segment) => random.below(2 ** (20 + segment))],
])(
  "a step of a merge moves at most 1,024 rows of hashes that are distributed %s",
  async (_, pick) => {
    await openLog();
    for (let segment = 0; segment < 17; segment += 1) {
      const length = segment === 3 ? 1_500 : 100;
      await appendSegment(
        storage,
        Array.from({ length }, (__, at) => hashOf(pick(segment, at))),
      );
    }
    let before = await countRows();
    while (!(await isIdle())) {
      await storage.transaction(runStep);
      const after = await countRows();
      const changes = [...new Set([...before.keys(), ...after.keys()])]
        .map((segment) => Math.abs((after.get(segment) ?? 0) - (before.get(segment) ?? 0)))
        .filter((change) => change > 0);
      expect(changes.length).toBeLessThanOrEqual(1);
      expect(Math.max(0, ...changes)).toBeLessThanOrEqual(1_024);
      before = after;
    }
    expect([...before.values()]).toEqual([100, 3_000]);
    await expectFound();
  },
);

test("all entries of one artifact are found, even if they are more than a step copies", async () => {
  await openLog();
  for (let segment = 0; segment < 17; segment += 1) {
    await appendSegment(
      storage,
      Array.from({ length: 70 }, () => hashOf(7)),
    );
  }
  await runAllSteps();
  expect(await findEntries(storage.read, hashOf(7))).toHaveLength(17 * 70);
  await expectFound([hashOf(6), hashOf(8)]);
});

test("a head of many entries runs more steps than one of few entries, but no more than are due", async () => {
  await openLog();
  for (let segment = 0; segment < 17; segment += 1) await appendSegment(storage, [hashOf(segment)]);
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
      const after = await appendHashes(
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

test("entries that were indexed before there were segments are found beside newer ones", async () => {
  const path = join(folder, randomUUID());
  await open(path, migrations.slice(0, migrations.indexOf(logSegments)));
  await storage.transaction((tx) => beginLog(tx));
  await appendAsOlder([hashOf(2 ** 47 + 5), hashOf(3), hashOf(2 ** 47 + 5)]);
  await storage.close();
  await open(path);
  await appendSegment(storage, [hashOf(3), hashOf(4)]);
  await expectFound([hashOf(5)]);
  expect(await findEntries(storage.read, hashOf(3))).toMatchObject([{ index: 1 }, { index: 3 }]);
});

test("nothing of an older generation is found or kept", async () => {
  await openLog();
  const hashes = Array.from({ length: 20 }, (_, at) => hashOf(at));
  for (const hash of hashes) await appendSegment(storage, [hash]);
  await mergeSegments(storage, 64);
  await restart();
  await storage.transaction((tx) => appendHashes(tx, hashes));
  for (const hash of hashes) expect(await findEntries(storage.read, hash)).toEqual([]);
  await storage.transaction((tx) => indexEntries(tx, 0, hashes.length));
  await expectFound();
  await runAllSteps();
  expect(await listSegments(storage.read)).toMatchObject([{ level: 0, first: 0, state: "live" }]);
  expect([...(await countRows()).values()]).toEqual([20]);
});
