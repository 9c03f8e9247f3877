import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRelayClient } from "@agent/client";
import Sqlite from "better-sqlite3";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { onlyOn } from "../test/engine/engine.ts";
import { endRelays, minimalEnv, startRelay } from "../test/processes/relay-process.ts";
import { OPERATOR_TOKEN, startTestRelay } from "../test/test-relay.ts";
import { createBuyer, submitAcceptedTask, createSeller } from "../test/market.ts";
import { commands, type CommandResult } from "./database-commands.ts";
import { migrate } from "./storage/database/migrate.ts";
import { migrations } from "./storage/migrations/index.ts";

// A start takes half a second of CPU, and the machine may be busy.
const folder = mkdtempSync(join(tmpdir(), "relay-commands-"));
afterAll(() => rmSync(folder, { recursive: true }));
afterEach(endRelays);

const now = 1_760_000_000_000;

let count = 0;
let path: string;
let copy: string;
beforeEach(() => {
  count += 1;
  path = join(folder, `relay-${count}.db`);
  copy = join(folder, `copy-${count}.db`);
});

async function run(name: string, argument?: string, at = path): Promise<CommandResult> {
  const call = {
    arguments: argument === undefined ? [] : [argument],
    status: false,
    path: at,
    now,
    randomBytes: (length: number) => crypto.getRandomValues(new Uint8Array(length)),
  };
  const command = commands[name];
  if (command === undefined) throw new Error(`there is no command ${name}`);
  return command.run(call);
}

const status = (at = path) =>
  commands["migrate"]?.run({
    arguments: [],
    status: true,
    path: at,
    now,
    randomBytes: (length) => new Uint8Array(length),
  }) as Promise<CommandResult>;

/** A database of a closed relay, with a hold of 2.4. */
async function filled(): Promise<void> {
  const t = await startTestRelay({ AGENT_DB_PATH: path });
  await submitAcceptedTask(t, await createBuyer(t, 10), await createSeller(t, 2));
  await t.close();
}

/** Moves money through a relay until `ended`, and returns how often it did. */
async function load(baseUrl: string, ended: () => boolean): Promise<number> {
  const client = createRelayClient({ baseUrl, identity: { masterToken: OPERATOR_TOKEN } });
  const agents = Array.from({ length: 4 }, () => crypto.randomUUID());
  let moved = 0;
  await Promise.all(
    agents.map(async (agentId) => {
      while (!ended()) {
        const params = { agentId };
        await client.deposit({ params, body: { amount: 2 } });
        await client.requestWithdrawal({ params, body: { amount: 1, destination: "out" } });
        moved += 1;
      }
    }),
  );
  return moved;
}

describe.runIf(onlyOn("sqlite"))("a backup", () => {
  test("a backup that is made under load is consistent and has all acknowledged rows", async () => {
    const relay = startRelay({ ...minimalEnv, AGENT_DB_PATH: path });
    const baseUrl = await relay.baseUrl;
    let done = false;
    const loading = load(baseUrl, () => done);
    await new Promise((resolve) => setTimeout(resolve, 300));
    const before = startRelay({ ...minimalEnv, AGENT_DB_PATH: path }, { args: ["backup", copy] });
    expect(await before.ended).toEqual({ code: 0, signal: null });
    done = true;
    expect(await loading).toBeGreaterThan(5);
    relay.kill("SIGKILL");
    await relay.ended;

    const place = join(folder, "restored.db");
    expect(await run("restore", copy, place)).toEqual({ ok: true, text: `${place} is restored` });
    const { ok, text } = await run("reconcile", undefined, place);
    const books = JSON.parse(text) as { consistent: boolean; totals: { deposits: number } };
    expect([ok, books.consistent]).toEqual([true, true]);
    expect(books.totals.deposits).toBeGreaterThan(0);
    const restored = startRelay({ ...minimalEnv, AGENT_DB_PATH: place });
    const client = createRelayClient({
      baseUrl: await restored.baseUrl,
      identity: { masterToken: OPERATOR_TOKEN },
    });
    expect(await client.reconcile()).toMatchObject({ ok: true, body: { consistent: true } });
  });

  test("a backup is readable by its owner only and never replaces a file", async () => {
    await filled();
    expect(await run("backup", copy)).toMatchObject({ ok: true });
    expect(statSync(copy).mode & 0o777).toBe(0o600);
    expect(await run("backup", copy)).toMatchObject({
      ok: false,
      text: `database.exists: ${copy} exists already`,
    });
    expect(existsSync(`${copy}-partial`)).toBe(false);
  });

  test.each<[string, (file: string) => void, string]>([
    ["that is not there", () => {}, "database.missing"],
    ["that is empty", (file) => writeFileSync(file, ""), "database.damaged"],
    [
      "that is something else",
      (file) => writeFileSync(file, "x".repeat(4_096)),
      "database.foreign",
    ],
  ])("a backup of a database %s is refused", async (_, make, code) => {
    make(path);
    const { ok, text } = await run("backup", copy);
    expect([ok, text.split(":")[0]]).toEqual([false, code]);
    expect(existsSync(copy)).toBe(false);
  });
});

describe.runIf(onlyOn("sqlite"))("restoring", () => {
  test("a restore writes the rows of a backup and does not change the backup", async () => {
    await filled();
    await run("backup", copy);
    const bytes = readFileSync(copy);
    rmSync(path);
    expect(await run("restore", copy)).toMatchObject({ ok: true });
    expect(readFileSync(copy).equals(bytes)).toBe(true);
    const t = await startTestRelay({ AGENT_DB_PATH: path }, 2);
    const { body } = await t.asOperator("GET", "/api/v1/admin/reconciliation");
    expect(body).toMatchObject({ consistent: true, totals: { deposits: 10, holds: 2.4 } });
    await t.close();
  });

  test("A8: a restore begins a higher incarnation, even within the same second", async () => {
    const stateAt = (at: string) => {
      const db = new Sqlite(at, { readonly: true });
      const number = db.prepare("SELECT number FROM incarnation").pluck().get();
      const freeze = db.prepare("SELECT since, reason, restored FROM freeze").get();
      db.close();
      return { number, freeze };
    };
    await filled();
    await run("backup", copy);
    expect(stateAt(copy)).toEqual({ number: 0, freeze: undefined });
    rmSync(path);
    await run("restore", copy);
    const reason = "restored from a backup at 2025-10-09T08:53:20.000Z";
    const freeze = { since: now, reason, restored: 1 };
    expect(stateAt(path)).toEqual({ number: now / 1_000, freeze });
    const second = join(folder, `second-${count}.db`);
    await run("backup", second);
    rmSync(path);
    await run("restore", second);
    expect(stateAt(path)).toEqual({ number: now / 1_000 + 1, freeze });
  });

  test("A8: a restore updates the schema of an older backup", async () => {
    const older = join(folder, `older-${count}.db`);
    const db = new Sqlite(older);
    db.pragma(`application_id = ${0x41524c59}`);
    migrate(db, migrations.slice(0, 19));
    db.close();
    expect(await run("restore", older)).toMatchObject({ ok: true });
    expect((await status()).text).not.toMatch(/^pending/m);
    const t = await startTestRelay({ AGENT_DB_PATH: path }, 2);
    expect((await t.request("GET", "/health")).body["incarnation"]).toBe(now / 1_000);
    expect(t.listLogged("relay.restored")).toHaveLength(1);
    const refused = await t.asOperator("POST", "/api/v1/admin/unfreeze");
    expect(refused).toMatchObject({ status: 400 });
    expect(await t.asOperator("POST", "/api/v1/admin/unfreeze", { restored: true })).toMatchObject({
      status: 200,
    });
    await t.close();
  });

  test("a restore never replaces an existing database", async () => {
    await filled();
    await run("backup", copy);
    expect(await run("restore", copy)).toMatchObject({ ok: false });
    const t = await startTestRelay({ AGENT_DB_PATH: path }, 2);
    expect(await run("restore", copy)).toMatchObject({
      ok: false,
      text: `database.locked: ${path} is in use by a relay`,
    });
    await t.close();
  });

  test("a restore of a damaged backup is refused and writes nothing", async () => {
    await filled();
    await run("backup", copy);
    const bytes = readFileSync(copy);
    bytes.fill(0x55, 8_192, 20_480);
    writeFileSync(copy, bytes);
    const place = join(folder, "never.db");
    expect(await run("restore", copy, place)).toMatchObject({ ok: false });
    expect(existsSync(place)).toBe(false);
  });
});

describe.runIf(onlyOn("sqlite"))("the other commands", () => {
  test("check reports whether the database is complete", async () => {
    await filled();
    expect(await run("check")).toEqual({ ok: true, text: `${path} is whole` });
    const db = new Sqlite(path);
    db.exec("DROP INDEX settlements_by_payer");
    db.close();
    expect(await run("check")).toMatchObject({ ok: false });
  });

  test("reconcile fails when the books do not balance", async () => {
    await filled();
    expect(await run("reconcile")).toMatchObject({ ok: true });
    const db = new Sqlite(path);
    db.exec("UPDATE accounts SET balance = balance + 1 WHERE account = 'world'");
    db.close();
    const { ok, text } = await run("reconcile");
    expect([ok, (JSON.parse(text) as { consistent: boolean }).consistent]).toEqual([false, false]);
  });

  test("migrate lists and applies the missing migrations", async () => {
    const none = await status();
    expect(none.text).toMatch(/^pending {2}001-initial$/m);
    expect(none.text).toMatch(/\n(\d+) of \1 missing: .*agent-relay migrate`$/);
    expect(existsSync(path)).toBe(false);
    expect(await run("migrate")).toMatchObject({ ok: true });
    const all = await status();
    expect(all.text).toMatch(/^applied {2}001-initial$/m);
    expect(all.text).not.toMatch(/^pending/m);
    expect(all.text).toMatch(/\nup to date$/);
    expect(await run("migrate")).toEqual({ ok: true, text: "nothing to do" });
  });

  test.each(["backup", "restore"])("%s requires a file", async (name) => {
    const unnamed = startRelay({ ...minimalEnv, AGENT_DB_PATH: path }, { args: [name, ""] });
    expect(await unnamed.ended).toEqual({ code: 2, signal: null });
    expect(unnamed.stderr()).toBe(
      `agent-relay: FILE is missing\nusage: agent-relay ${name} FILE\n`,
    );
  });

  test("an unknown command, or a command without a database, exits with a reason", async () => {
    const unknown = startRelay({ ...minimalEnv, AGENT_DB_PATH: path }, { args: ["bake"] });
    expect(await unknown.ended).toEqual({ code: 2, signal: null });
    expect(unknown.stderr()).toContain('there is no command "bake"');
    const placeless = startRelay(minimalEnv, { args: ["check"] });
    expect(await placeless.ended).toEqual({ code: 2, signal: null });
    expect(placeless.stderr()).toContain("AGENT_DB_PATH");
  });
});
