import { afterEach, expect, test } from "vitest";
import { appendHashes, beginLog, hashOf } from "../../test/stored/log-segments.ts";
import { openMigrated } from "../../test/stored/migrated-storage.ts";
import { migrations } from "../storage/migrations/index.ts";
import type { Reader, Storage } from "../storage/storage.ts";
import { proveArtifact } from "./prove.ts";

let storage: Storage;
afterEach(() => storage.close());

async function openLog(uncovered: number): Promise<void> {
  const opened = await openMigrated({ path: ":memory:", migrations });
  if (!opened.ok) throw new Error(opened.detail);
  ({ storage } = opened);
  const hashes = Array.from({ length: uncovered }, (_, at) => hashOf(at));
  await storage.transaction(async (tx) => {
    await beginLog(tx);
    await appendHashes(tx, hashes);
  });
}

test.each([
  ["its entry is among those that wait for a head", 4_096, hashOf(4_095), "log.not_integrated"],
  ["no entry of it waits for a head", 4_096, hashOf(4_096), "log.entry_not_found"],
  ["more entries wait than a request may search", 4_097, hashOf(9_999), "log.not_integrated"],
])(
  "the log gives the right answer about an artifact if %s",
  async (_, uncovered, artifact, code) => {
    await openLog(uncovered);
    expect(await proveArtifact({ storage }, artifact)).toMatchObject({ ok: false, code });
  },
);

test("the log reads a limited number of waiting entries for a proof, however many wait for a head", async () => {
  await openLog(20_000);
  let rows = 0;
  const read: Reader = {
    ...storage.read,
    async all(query, parameters) {
      const found = await storage.read.all(query, parameters);
      rows += found.length;
      return found;
    },
  };
  await proveArtifact({ storage: { ...storage, read } }, hashOf(99_999));
  expect(rows).toBe(4_097);
});
