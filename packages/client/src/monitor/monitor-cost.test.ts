import { entryOf } from "@agent/transparency";
import { ModelLog } from "@agent/transparency/model-log";
import { expect, test } from "vitest";
import type { MonitorState } from "./monitor-state.ts";
import { createMonitor } from "./monitor.ts";

function createLog(size: number): ModelLog {
  const log = new ModelLog(1);
  while (log.size < size) {
    log.append(entryOf.settlement({ task_id: `task ${log.size}`, payee_id: "x" }, { time: 1 }));
  }
  return log;
}

/** Runs a first round over a log and returns how often it hashed an id of 50 known tasks. */
async function countHashedRefs(log: ModelLog): Promise<number> {
  let hashes = 0;
  const toCounted = (ref: string) => ({
    // A tag is hashed from the text of its value.
    toString() {
      hashes += 1;
      return ref;
    },
  });
  const refs = Array.from({ length: 50 }, (_, at) => toCounted(`ref ${at}`));
  const knownRefs = refs as unknown as readonly string[];
  const monitor = createMonitor({
    prefix: "http://log",
    logKey: log.keys.logKey,
    watch: { agentIds: [], keys: [], knownArtifacts: [], knownRefs },
    state: { load: () => Promise.resolve(null), save: () => Promise.resolve() },
    report: () => {},
    fetch: (url) => {
      const path = (url as string).replace("http://log/", "");
      const isNote = path === "checkpoint" || path === "latest";
      const body = isNote ? log.sign() : new Uint8Array(log.readPath(path)!);
      return Promise.resolve(new Response(body));
    },
  });
  expect(await monitor.check()).toMatchObject({ ok: true, alarms: [], size: log.size });
  return hashes;
}

/** Runs rounds while the log grows to each of `sizes`, and returns the paths of the tiles that each read. */
async function listReadTiles(sizes: readonly { published: number; latest: number }[]) {
  const { logKey } = createLog(0).keys;
  let [checkpoint, latest] = [createLog(0), createLog(0)];
  let tiles: string[] = [];
  let kept: MonitorState | null = null;
  const monitor = createMonitor({
    prefix: "http://log",
    logKey,
    watch: { agentIds: [], keys: [], knownArtifacts: [], knownRefs: [] },
    state: {
      load: () => Promise.resolve(kept),
      save: async (state) => void (kept = state),
    },
    report: () => {},
    fetch: (url) => {
      const path = (url as string).replace("http://log/", "");
      if (path === "checkpoint") return Promise.resolve(new Response(checkpoint.sign()));
      if (path === "latest") return Promise.resolve(new Response(latest.sign()));
      tiles.push(path);
      const bytes = latest.readPath(path) ?? checkpoint.readPath(path)!;
      return Promise.resolve(new Response(new Uint8Array(bytes)));
    },
  });
  const rounds: string[][] = [];
  for (const size of sizes) {
    [checkpoint, latest, tiles] = [createLog(size.published), createLog(size.latest), []];
    expect(await monitor.check()).toMatchObject({ ok: true, alarms: [] });
    rounds.push(tiles);
  }
  return rounds;
}

test("a round reads each tile once, also those that the head before it and the latest one share", async () => {
  const rounds = await listReadTiles([
    { published: 300, latest: 300 },
    { published: 520, latest: 520 },
    { published: 600, latest: 700 },
  ]);
  for (const tiles of rounds) expect(tiles.toSorted()).toEqual([...new Set(tiles)].toSorted());
});

test("a round hashes each known task once, however many entries are new", async () => {
  for (const size of [10, 256 * 8]) expect(await countHashedRefs(createLog(size))).toBe(50);
});
