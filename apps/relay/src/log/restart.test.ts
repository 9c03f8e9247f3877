import { copyFileSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bytesToHex, sha256Hex } from "@agent/crypto";
import { createManualClock, type ManualClock } from "@agent/testkit";
import {
  formatAddCheckpoint,
  hashTag,
  parseCheckpoint,
  parseEntryBundle,
  parseLogEntry,
  proveConsistency,
} from "@agent/transparency";
import { afterEach, beforeEach, expect, test } from "vitest";
import { backUpStored, restoreStored } from "../../test/engine/backup.ts";
import { toEnginePlace } from "../../test/engine/database-of-path.ts";
import { onlyOn } from "../../test/engine/engine.ts";
import { editStored } from "../../test/engine/stored.ts";
import { startTestRelay, type TestRelay } from "../../test/test-relay.ts";
import { askWitness, createModelLog, witnessEnv } from "../../test/agents/witness.ts";
import { commands, type CommandInput } from "../database-commands.ts";

let folder: string;
let clock: ManualClock;
let t: TestRelay;
let seed = 1;
const path = () => join(folder, "relay.db");

async function start(env: Record<string, string> = {}): Promise<void> {
  t = await startTestRelay({ AGENT_DB_PATH: path(), ...env }, (seed += 1), clock);
}

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "relay-log-restart-"));
  clock = createManualClock();
  await start();
});
afterEach(async () => {
  await t.close();
  rmSync(folder, { recursive: true });
});

async function run(name: string, args: readonly string[], more: Partial<CommandInput> = {}) {
  const randomBytes = (length: number) => new Uint8Array(length).fill(7);
  const call = { arguments: args, status: false, now: clock.now(), randomBytes };
  const { ok, text } = await commands[name]!.run({ ...call, ...toEnginePlace(path()), ...more });
  if (!ok) throw new Error(text);
}

async function bindKeys(count: number): Promise<void> {
  for (let bound = 0; bound < count; bound += 1) await t.createAgent();
  await t.relay.tick();
}

async function getHead() {
  const { text } = await t.request("GET", "/log/v1/latest");
  const parsed = parseCheckpoint(text);
  if (!parsed.ok) throw new Error(text);
  return { ...parsed.head, text: parsed.note.text };
}

async function getLog() {
  return (await t.request("GET", "/.well-known/agent-relay.json")).body["log"] as {
    origin: string;
    vkey: string;
  };
}

async function getEntries(count: number) {
  const request = new Request(`http://relay.test/log/v1/tile/entries/000.p/${count}`);
  const bytes = new Uint8Array(await (await t.relay.fetch(request)).arrayBuffer());
  const bundle = parseEntryBundle(bytes, count);
  if (!bundle.ok) throw new Error(bundle.code);
  return bundle.entries.map((entry) => {
    const parsed = parseLogEntry(entry);
    if (!parsed.ok) throw new Error(parsed.code);
    return parsed.entry;
  });
}

/** Restarts the log of the stopped relay and expects a new one of this size. */
async function restartLog({ size }: { size: number }): Promise<void> {
  const { origin } = await getLog();
  await t.close();
  await clock.advance(1_000);
  await run("log", ["restart"]);
  await start();
  await t.relay.tick();
  expect(await getHead()).toMatchObject({
    origin: `${origin}/${Math.floor(clock.now() / 1_000)}`,
    size,
  });
}

test("the log continues its tree after a restart, and refuses another origin", async () => {
  await bindKeys(3);
  const before = await getHead();
  await t.close();
  await start();
  expect(await getHead()).toEqual(before);
  await bindKeys(1);
  expect((await getHead()).size).toBe(4);
  await t.close();
  await expect(start({ AGENT_LOG_ORIGIN: "another.example" })).rejects.toThrow(
    "log.origin_changed",
  );
  await start();
});

test("TL8 the log begins a new generation after each restore of one backup, and enters its keys again", async () => {
  await bindKeys(2);
  const old = await getHead();
  const backup = join(folder, "backup.db");
  await backUpStored(path(), backup);
  const origins = [old.origin];
  for (let restored = 0; restored < 2; restored += 1) {
    await bindKeys(1);
    await t.close();
    await clock.advance(5_000);
    await restoreStored(path(), backup, clock.now());
    await start();
    await t.relay.tick();
    // A frozen relay signs nothing; the older head stays valid.
    expect((await getHead()).text).toBe(old.text);
    await t.asOperator("POST", "/api/v1/admin/unfreeze", { restored: true });
    await t.relay.tick();
    const { origin } = await getHead();
    expect(origin).toBe(`${old.origin}/${Math.floor(clock.now() / 1_000)}`);
    expect((await getLog()).origin).toBe(origin);
    origins.push(origin);
    const entries = await getEntries(3);
    expect(entries.map(({ kind }) => kind)).toEqual(["continued", "key_bound", "key_bound"]);
    expect(entries[0]).toMatchObject({
      refTag: bytesToHex(hashTag("ref", old.origin)),
      artifactHash: sha256Hex(old.text),
    });
  }
  expect(new Set(origins).size).toBe(3);
});

// A database of a server has no file beside it: another one that replaces it is refused at the start (A8).
test.runIf(onlyOn("sqlite"))(
  "TL8 the log signs no head if its database is an older copy, until the operator restarts the log",
  async () => {
    await bindKeys(1);
    await t.close();
    const copy = join(folder, "copy.db");
    copyFileSync(path(), copy);
    await start();
    await bindKeys(2);
    await t.close();
    for (const end of ["-wal", "-shm"]) rmSync(`${path()}${end}`, { force: true });
    copyFileSync(copy, path());
    await start();
    expect(t.listLogged("log.behind_witness")).toHaveLength(1);
    await bindKeys(3);
    expect((await getHead()).size).toBe(1);
    const { status, body } = await t.request("GET", "/health/ready");
    const line = (body["checks"] as { check: string; ok: boolean }[]).find(
      ({ check }) => check === "log",
    );
    expect({ status, line }).toMatchObject({ status: 200, line: { ok: false } });
    await restartLog({ size: 5 });
  },
);

test("TL21 the log signs no head over an entry that was changed in the database", async () => {
  await bindKeys(3);
  const before = await getHead();
  await t.close();
  const first = "(select entry from log_entries where idx = 1)";
  await editStored(path(), `update log_entries set entry = ${first} where idx = 2`);
  await start();
  await bindKeys(1);
  expect(await getHead()).toEqual(before);
  expect(t.listLogged("log.behind_witness")).toHaveLength(1);
  await restartLog({ size: 5 });
});

test.runIf(onlyOn("sqlite"))(
  "TL8 the log signs no head while the file of the newest served head cannot be read",
  async () => {
    await bindKeys(1);
    await t.close();
    const file = `${path()}-log-head`;
    renameSync(file, `${file}-kept`);
    mkdirSync(file);
    await start();
    expect(t.listLogged("log.behind_witness")).toEqual([
      expect.objectContaining({ detail: expect.stringContaining("cannot be read") as string }),
    ]);
    await bindKeys(1);
    expect((await getHead()).size).toBe(1);
    await t.close();
    rmSync(file, { recursive: true });
    renameSync(`${file}-kept`, file);
    await start();
    await t.relay.tick();
    expect((await getHead()).size).toBe(2);
  },
);

test.runIf(onlyOn("sqlite"))(
  "TL8 a witness cosigns nothing if its database is an older copy, because it could cosign a second history",
  async () => {
    const log = createModelLog(20);
    const env = witnessEnv(log);
    const cosign = async (old: number, size: number) => {
      const proof = await proveConsistency(old, size, log.readTile);
      const answer = await askWitness(t, formatAddCheckpoint(old, proof, log.sign([], size)));
      return answer.status;
    };
    await t.close();
    await start(env);
    await bindKeys(1);
    expect(await cosign(0, 1)).toBe(200);
    await t.close();
    const copy = join(folder, "copy.db");
    copyFileSync(path(), copy);
    await start(env);
    await bindKeys(1);
    expect(await cosign(1, 20)).toBe(200);
    await t.close();
    for (const end of ["-wal", "-shm"]) rmSync(`${path()}${end}`, { force: true });
    copyFileSync(copy, path());
    await start(env);
    expect(await cosign(1, 10)).toBe(404);
    await restartLog({ size: 2 });
  },
);

test.runIf(onlyOn("sqlite")).each([
  ["whose own log did not grow meanwhile", {}],
  ["whose own log is off", { AGENT_LOG: "false" }],
])(
  "TL16 a witness %s cosigns nothing if its database is an older copy",
  async (_, own: Record<string, string>) => {
    const log = createModelLog(20);
    const env = { ...witnessEnv(log), ...own };
    const cosign = async (old: number, size: number) => {
      const proof = old === 0 ? [] : await proveConsistency(old, size, log.readTile);
      const answer = await askWitness(t, formatAddCheckpoint(old, proof, log.sign([], size)));
      return answer.status;
    };
    await t.close();
    await start(env);
    expect(await cosign(0, 1)).toBe(200);
    await t.close();
    const copy = join(folder, "copy.db");
    copyFileSync(path(), copy);
    await start(env);
    expect(await cosign(1, 20)).toBe(200);
    await t.close();
    // The newest copy is not an older one.
    await start(env);
    expect(t.listLogged("log.behind_witness")).toEqual([]);
    await t.close();
    for (const end of ["-wal", "-shm"]) rmSync(`${path()}${end}`, { force: true });
    copyFileSync(copy, path());
    await start(env);
    expect(await cosign(1, 10)).toBe(404);
    expect(t.listLogged("log.behind_witness")).toHaveLength(1);
    await t.close();
    await clock.advance(1_000);
    await run("log", ["restart"]);
    await start(env);
    // The next generation of a witness has another key, so readers see that its state went back.
    expect(await cosign(1, 10)).toBe(200);
  },
);

test("TL8 the log begins a new generation when the operator restarts it, and enters its keys again", async () => {
  await bindKeys(2);
  await restartLog({ size: 3 });
  const entries = await getEntries(3);
  expect(entries.map(({ kind }) => kind)).toEqual(["continued", "key_bound", "key_bound"]);
});

test("the log keeps its keys when the relay's key changes, and replaces them after a theft", async () => {
  await bindKeys(1);
  const [log, head] = [await getLog(), await getHead()];
  await t.close();
  await run("rotate-key", []);
  await start();
  await t.relay.tick();
  expect(await getLog()).toMatchObject({ origin: log.origin, vkey: log.vkey });
  expect((await getHead()).size).toBe(head.size + 1);
  expect((await getEntries(2)).map(({ kind }) => kind)).toEqual(["key_bound", "relay_key"]);
  await t.close();
  await clock.advance(1_000);
  await run("rotate-key", [], {
    stolen: true,
    randomBytes: (length) => new Uint8Array(length).fill(8),
  });
  await start();
  await t.relay.tick();
  const after = await getLog();
  expect(after.origin).toBe(`${log.origin}/${Math.floor(clock.now() / 1_000)}`);
  expect(after.vkey.split("+").at(-1)).not.toBe(log.vkey.split("+").at(-1));
  expect((await getEntries(3)).map(({ kind }) => kind)).toEqual([
    "continued",
    "relay_key",
    "key_bound",
  ]);
});
