import { concatBytes } from "@agent/crypto";
import {
  entryOf,
  formatEntryBundle,
  hashLeaf,
  hashNode,
  parseTilePath,
  signCheckpoint,
} from "@agent/transparency";
import { ModelLog } from "@agent/transparency/model-log";
import { expect, test } from "vitest";
import type { MonitorState } from "./monitor-state.ts";
import { createMonitor } from "./monitor.ts";

const { keys } = new ModelLog(1);
const entry = entryOf.settlement({ task_id: "task", payee_id: "other" }, { time: 1 });

/** Serves a log of 2^height entries that are all the same, so that each of its tiles is one hash repeated. */
function serveUniformLog(height: number): (path: string) => string | Uint8Array {
  const hashes = [hashLeaf(entry)];
  while (hashes.length <= height) hashes.push(hashNode(hashes.at(-1)!, hashes.at(-1)!));
  const head = { origin: keys.origin, size: 2 ** height, root: hashes[height]! };
  const note = signCheckpoint(head, keys.secretKey);
  return (path) => {
    const parsed = parseTilePath(path);
    if (!parsed.ok) return note;
    const { level, width } = parsed;
    if (level === "entries") return formatEntryBundle(Array<Uint8Array>(width).fill(entry));
    return concatBytes(...Array<Uint8Array>(width).fill(hashes[8 * level]!));
  };
}

/** Runs rounds on a log; the time of a round is over at its `endAt`-th read. */
function createRounds(answer: (path: string) => string | Uint8Array) {
  let kept: MonitorState | null = null;
  let paths: string[] = [];
  let endAt = Infinity;
  let deadline = { ms: 0, end: () => {} };
  const monitor = createMonitor({
    prefix: "http://log",
    logKey: keys.logKey,
    watch: { agentIds: [], keys: [], knownArtifacts: [], knownRefs: [] },
    state: {
      load: () => Promise.resolve(kept),
      save: async (state) => void (kept = state),
    },
    report: () => {},
    fetch: (url) => {
      const path = (url as string).replace("http://log/", "");
      paths.push(path);
      if (paths.length === endAt) deadline.end();
      if (paths.length > 5_000) throw new Error("the round reads without end");
      const body = answer(path);
      return Promise.resolve(new Response(typeof body === "string" ? body : new Uint8Array(body)));
    },
    schedule: (ms, end) => {
      deadline = { ms, end };
      return () => {};
    },
  });
  return async (at = Infinity) => {
    [paths, endAt] = [[], at];
    const result = await monitor.check();
    const bundles = paths.filter((path) => path.includes("/entries/"));
    return { result, state: kept, deadline: deadline.ms, reads: paths.length, bundles };
  };
}

test("TL13 a round of a log that serves entries without end is over after half an hour, and the next one goes on", async () => {
  const runRound = createRounds(serveUniformLog(52));
  const first = await runRound(300);
  expect(first.result).toMatchObject({ ok: false, code: "network.unreachable" });
  expect(first.deadline).toBe(1_800_000);
  expect(first.reads).toBe(300);
  expect(first.state).toMatchObject({ scanned: 65_536 });
  const second = await runRound(30);
  expect(second.bundles[0]).toBe("tile/entries/256");
  expect(second.state).toMatchObject({ scanned: 65_536 });
});

test("a round scans the entries that earlier rounds had no time for, and those behind them, once", async () => {
  const runRound = createRounds(serveUniformLog(17));
  await runRound(300);
  const second = await runRound();
  expect(second.result).toMatchObject({ ok: true, alarms: [], size: 131_072 });
  expect(second.bundles).toHaveLength(256);
  const third = await runRound();
  expect(third.result).toMatchObject({ ok: true, size: 131_072 });
  expect(third.bundles).toEqual([]);
});
