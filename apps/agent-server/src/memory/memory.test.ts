import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createManualClock, createSeededRandom } from "@agent/testkit";
import { limits } from "@agent/wire";
import Sqlite from "better-sqlite3";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Embedder } from "./embedder.ts";
import { hashedNgramEmbedder } from "./hashed-ngram-embedder.ts";
import { memoryLimits, type Memory, type NewMemory } from "./memory.ts";
import { openMemory } from "./open-memory.ts";

const day = 86_400_000;
const { signal } = new AbortController();

let clock: ReturnType<typeof createManualClock>;
let memory: Memory;

beforeEach(() => {
  clock = createManualClock();
  memory = open(":memory:");
});
afterEach(() => memory.close());

function open(path: string, embedder: Embedder = hashedNgramEmbedder): Memory {
  const runtime = { now: clock.now, randomBytes: createSeededRandom(1).randomBytes };
  const opened = openMemory({ path, embedder, runtime });
  if (!opened.ok) throw new Error(opened.fault);
  return opened.memory;
}

async function remember(content: string, note: Partial<NewMemory> = {}): Promise<string> {
  const kept = await memory.remember(
    { caller: "alice", content, type: "semantic", ...note },
    signal,
  );
  if (!kept.ok) throw new Error(kept.code);
  return kept.nodeId;
}

async function recall(query: string, caller = "alice", limit?: number) {
  const recalled = await memory.recall(query, { caller, limit }, signal);
  if (!recalled.ok) throw new Error(recalled.code);
  return recalled.items;
}

describe("recall", () => {
  test("recall returns all members of the specification, the best match first", async () => {
    await remember("The sky is blue");
    await remember("The capital of France is Paris", { type: "episodic" });
    const items = await recall("What is the capital of France?");
    const similarities = items.map(({ similarity }) => similarity);
    expect(items[0]).toEqual({
      content: "The capital of France is Paris",
      confidence: 0.8,
      similarity: similarities[0],
      half_life_days: 30,
      memory_type: "episodic",
      created_at: clock.now(),
    });
    expect(similarities[0]).toBeCloseTo(0.82, 1);
    expect(similarities).toEqual(similarities.toSorted((a, b) => b - a));
  });

  test("recall returns at most the requested number of items, 10 by default", async () => {
    for (let n = 0; n < 12; n++) await remember(`note ${n}`);
    expect(await recall("note")).toHaveLength(10);
    expect(await recall("note", "alice", 3)).toHaveLength(3);
    expect(await recall("note", "alice", 100)).toHaveLength(12);
  });

  test("recall returns nothing without memories or without a match", async () => {
    expect(await recall("anything")).toEqual([]);
    await remember("The sky is blue");
    expect(await recall("zzz")).toEqual([]);
  });

  test("recall and a snapshot return no more than fits into the result of a tool", async () => {
    // A control character takes six bytes as JSON.
    for (let n = 0; n < 30; n++) await remember(`note ${n} ${"\u0001".repeat(10_000)}`);
    for (const listed of [await recall("note", "alice", 100), memory.listNewest("alice")]) {
      expect(listed).toHaveLength(6);
      expect(JSON.stringify(listed).length).toBeLessThan(limits.resultBytes);
    }
  });

  test("recall ranks equally similar memories by confidence, then by age", async () => {
    memory.close();
    const vector = Float32Array.of(1);
    memory = open(":memory:", {
      id: "all alike",
      relatedThreshold: 2,
      embed: async (texts) => ({ ok: true, vectors: texts.map(() => vector) }),
    });
    const order = async () => (await recall("x")).map(({ content }) => content);
    await remember("older");
    await clock.advance(1);
    await remember("newer");
    await clock.advance(day);
    expect(await order()).toEqual(["newer", "older"]);
    await remember("older");
    expect(await order()).toEqual(["older", "newer"]);
  });

  test("a snapshot needs no query and lists the newest first", async () => {
    for (const content of ["one", "two", "three"]) {
      await remember(content);
      await clock.advance(1);
    }
    expect(memory.listNewest("alice").map(({ content }) => content)).toEqual([
      "three",
      "two",
      "one",
    ]);
  });

  test("recall reinforces only the memories that it found", async () => {
    await remember("The sky is blue");
    await remember("roses and gardening");
    for (let times = 0; times < 3; times++) await recall("blue sky");
    const [sky] = await recall("blue sky");
    expect(sky?.half_life_days).toBeCloseTo(30 * 1.2 ** 3);
    expect(sky?.confidence).toBeGreaterThan(0.9);
    expect((await recall("gardening"))[0]).toMatchObject({ half_life_days: 30, confidence: 0.8 });
  });

  test("recall shows a confidence that decays with the half-life", async () => {
    await remember("The sky is blue");
    await clock.advance(60 * day);
    expect((await recall("sky"))[0]?.confidence).toBeCloseTo(0.2);
  });
});

describe("a note", () => {
  test("a repeated note reinforces the one memory", async () => {
    const first = await remember("The sky is blue");
    expect(await remember("The sky is blue")).toBe(first);
    expect(memory.count()).toBe(1);
    expect(memory.listNewest("alice")[0]?.half_life_days).toBeCloseTo(36);
  });

  test("two concurrent equal notes become one memory", async () => {
    const ids = await Promise.all([remember("at once"), remember("at once")]);
    expect(new Set(ids).size).toBe(1);
    expect(memory.count()).toBe(1);
  });

  test("a note repeated with a stricter sensitivity is hidden and stays so", async () => {
    await remember("The sky is blue");
    await remember("The sky is blue", { sensitivity: "personal" });
    expect(await recall("sky")).toEqual([]);
    await remember("The sky is blue", { sensitivity: "none" });
    expect(await recall("sky")).toEqual([]);
  });

  test("a note above the limit is refused and not stored", async () => {
    const fitting = "é".repeat(memoryLimits.contentBytes / 2);
    await remember(fitting);
    const answer = await memory.remember(
      { caller: "alice", content: `${fitting}e`, type: "semantic" },
      signal,
    );
    expect(answer).toMatchObject({ ok: false, code: "memory.too_large" });
    expect(memory.count()).toBe(1);
  });

  test.each(["medical", "financial", "secret", "PERSONAL", ""])(
    "a note of sensitivity %j is refused and not stored",
    async (sensitivity) => {
      const note = { caller: "alice", content: "x", sensitivity, type: "semantic" } as const;
      const answer = await memory.remember(note, signal);
      expect(answer).toMatchObject({ ok: false, code: "memory.sensitivity_refused" });
      expect(memory.count()).toBe(0);
    },
  );
});

describe("recall hides", () => {
  test("recall hides personal memories", async () => {
    await remember("alice lives in Paris", { sensitivity: "personal" });
    expect(memory.count()).toBe(1);
    expect(await recall("Paris")).toEqual([]);
    expect(memory.listNewest("alice")).toEqual([]);
  });

  test("recall hides another caller's memories, even of the same text", async () => {
    await remember("the launch is on Friday", { caller: "alice" });
    expect(await recall("launch", "bob")).toEqual([]);
    expect(memory.listNewest("bob")).toEqual([]);
    const own = await remember("the launch is on Friday", { caller: "bob" });
    expect(await remember("the launch is on Friday", { caller: "alice" })).not.toBe(own);
    expect(memory.listNewest("bob")[0]?.half_life_days).toBe(30);
  });
});

test("at a caller's limit its memories of the lowest confidence are deleted, and no other caller's", async () => {
  await remember("of bob", { caller: "bob" });
  await remember("faded");
  await clock.advance(day);
  for (let n = 1; n < memoryLimits.memoriesPerCaller; n++) await remember(`n${n}`);
  expect(memory.count()).toBe(memoryLimits.memoriesPerCaller + 1);
  await remember("one more");
  expect(memory.count()).toBe(memoryLimits.memoriesPerCaller + 1);
  const left = (await recall("faded", "alice", 100)).map(({ content }) => content);
  expect(left).not.toContain("faded");
  expect(await recall("of bob", "bob")).toHaveLength(1);
});

describe("the embedder", () => {
  /** Embeds a text by its first character only. */
  const initials = (id: string): Embedder => ({
    id,
    relatedThreshold: 0.5,
    embed: async (texts) => ({
      ok: true,
      vectors: texts.map((text) =>
        Float32Array.from("abc", (letter) => (text.startsWith(letter) ? 1 : 0)),
      ),
    }),
  });

  test("memories of a former embedder are found by its successor", async () => {
    const folder = mkdtempSync(join(tmpdir(), "agent-memory-"));
    const path = join(folder, "memory.db");
    memory.close();
    memory = open(path);
    for (let n = 0; n < 100; n++) await remember(`a${n}`);
    memory.close();
    memory = open(path, initials("initials"));
    expect(await recall("a", "alice", 100)).toHaveLength(64);
    expect(await recall("a", "alice", 100)).toHaveLength(100);
    expect(await recall("b")).toEqual([]);
    rmSync(folder, { recursive: true });
  });

  test("an embedder's failure is returned, and nothing is stored", async () => {
    memory.close();
    const refusal = { ok: false, code: "memory.not_embedded", detail: "down" } as const;
    memory = open(":memory:", { id: "down", relatedThreshold: 0, embed: async () => refusal });
    const note = { caller: "alice", content: "x", type: "semantic" } as const;
    expect(await memory.remember(note, signal)).toEqual(refusal);
    expect(await memory.recall("x", { caller: "alice" }, signal)).toEqual(refusal);
    expect(memory.count()).toBe(0);
  });
});

describe("a memory on disk", () => {
  let folder: string;
  let path: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "agent-memory-"));
    path = join(folder, "new", "memory.db");
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const fault = () => {
    const runtime = { now: clock.now, randomBytes: createSeededRandom(1).randomBytes };
    const opened = openMemory({ path, embedder: hashedNgramEmbedder, runtime });
    return opened.ok ? "" : opened.fault;
  };

  test("a memory on disk survives a restart, and only its owner can read it", async () => {
    memory.close();
    memory = open(path);
    await remember("The sky is blue");
    for (const file of [path, `${path}-wal`]) expect(statSync(file).mode & 0o777).toBe(0o600);
    memory.close();
    memory = open(path);
    expect((await recall("sky"))[0]?.content).toBe("The sky is blue");
  });

  test.each<[string, (path: string) => void, RegExp]>([
    [
      "no database",
      (at) => writeFileSync(at, "not a database at all, but long enough"),
      /not a database/,
    ],
    [
      "another program's",
      (at) => new Sqlite(at).exec("CREATE TABLE t (a)").close(),
      /not an agent's memory/,
    ],
    [
      "of a newer version",
      (at) => {
        const db = new Sqlite(at);
        db.pragma("user_version = 2");
        db.close();
      },
      /version 2/,
    ],
  ])("a memory file that is %s is refused and left unchanged", (_, spoil, reason) => {
    open(path).close();
    if (reason.source !== "version 2") rmSync(path);
    spoil(path);
    chmodSync(path, 0o644);
    const before = readFileSync(path);
    expect(fault()).toMatch(reason);
    expect(readFileSync(path)).toEqual(before);
    expect(statSync(path).mode & 0o777).toBe(0o644);
  });

  test("a memory file that is damaged in the middle is refused and left unchanged", async () => {
    memory.close();
    memory = open(path);
    for (let n = 0; n < 50; n++) await remember(`note ${n} ${"x".repeat(1_000)}`);
    memory.close();
    const bytes = readFileSync(path);
    bytes.fill(0xff, 8_192, 40_960);
    writeFileSync(path, bytes);
    expect(fault()).toMatch(/damaged|malformed/);
    expect(readFileSync(path)).toEqual(bytes);
    memory = open(":memory:");
  });

  test("a memory that was restored from a backup becomes private to its owner", () => {
    open(path).close();
    chmodSync(path, 0o644);
    open(path).close();
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  test("a memory path that names a folder is refused, and the folder keeps its mode", () => {
    mkdirSync(path, { recursive: true });
    chmodSync(path, 0o755);
    expect(fault()).toMatch(/^memory\.path: /);
    expect(statSync(path).mode & 0o777).toBe(0o755);
  });

  test("a memory at a path that cannot be written is refused", () => {
    writeFileSync(join(folder, "new"), "a file where the folder should be");
    expect(fault()).toMatch(/^memory\.path: /);
  });
});
