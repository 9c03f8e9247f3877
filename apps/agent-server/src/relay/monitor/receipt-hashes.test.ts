import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sha256Hex } from "@agent/crypto";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openReceiptHashes } from "./receipt-hashes.ts";

let folder: string;
let events: string[];
const path = () => join(folder, "data", "signed.log");
const openLog = () => openReceiptHashes(path(), { log: (_, event) => events.push(event) });
const hashOf = (n: number) => sha256Hex(`receipt ${n}`);

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "agent-signed-"));
  events = [];
});
afterEach(() => rm(folder, { recursive: true }));

test("a recorded hash is on disk, one per line, in a file that only its owner can read", async () => {
  const log = await openLog();
  await log.record(hashOf(1));
  expect(readFileSync(path(), "utf8")).toBe(`${hashOf(1)}\n`);
  await log.record(hashOf(2));
  expect(readFileSync(path(), "utf8")).toBe(`${hashOf(1)}\n${hashOf(2)}\n`);
  expect(statSync(path()).mode & 0o777).toBe(0o600);
});

test("a hash is known at once, before it is on disk", async () => {
  const log = await openLog();
  const recorded = log.record(hashOf(1));
  expect(log.hashes.has(hashOf(1))).toBe(true);
  await recorded;
});

test("hashes that arrive together are all written and are known to the next run", async () => {
  const log = await openLog();
  const numbers = Array.from({ length: 50 }, (_, n) => n);
  await Promise.all(numbers.map((n) => log.record(hashOf(n))));
  expect(readFileSync(path(), "utf8").split("\n")).toEqual([...numbers.map(hashOf), ""]);
  expect([...(await openLog()).hashes]).toEqual(numbers.map(hashOf));
});

test("a line that a crash cut off damages no other line", async () => {
  mkdirSync(join(folder, "data"));
  writeFileSync(path(), `${hashOf(1)}\n${hashOf(2).slice(0, 20)}`);
  const log = await openLog();
  expect([...log.hashes]).toEqual([hashOf(1)]);
  await log.record(hashOf(3));
  expect([...(await openLog()).hashes]).toEqual([hashOf(1), hashOf(3)]);
});

test("D29: a receipt is not held back by a disk that accepts no writes, and its hash is written with the next one", async () => {
  // The name is taken by a folder, so the file can be neither read nor written.
  mkdirSync(path(), { recursive: true });
  const log = await openLog();
  await log.record(hashOf(1));
  expect(events).toEqual(["signed_log.unreadable", "signed_log.not_written"]);
  expect(log.hashes.has(hashOf(1))).toBe(true);
  await rm(path(), { recursive: true });
  await log.record(hashOf(2));
  expect([...(await openLog()).hashes]).toEqual([hashOf(1), hashOf(2)]);
  await log.record(hashOf(3));
  expect(readFileSync(path(), "utf8").trim().split("\n")).toEqual([1, 2, 3].map(hashOf));
});
