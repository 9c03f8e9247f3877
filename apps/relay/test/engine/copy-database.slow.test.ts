import { randomBytes } from "node:crypto";
import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runStatement } from "@agent/test-postgres";
import Sqlite from "better-sqlite3";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { loadRelayIdentity } from "../../src/identity/relay-identity.ts";
import { migrations } from "../../src/storage/migrations/index.ts";
import { copyDatabase } from "../../src/storage/copying/copy-database.ts";
import { migrate } from "../../src/storage/database/migrate.ts";
import { openStorage, type DatabaseLocation } from "../../src/storage/open-storage.ts";
import { createLoadAgents, listMissing, requestJson, runLoad, type LoadAgents } from "../load.ts";
import { endRelays, minimalEnv, startRelay } from "../processes/relay-process.ts";
import { OPERATOR_TOKEN } from "../test-relay.ts";
import { openDatabaseOf } from "./database-of-path.ts";

const PASSWORD = "a-password-of-the-server";
const folder = mkdtempSync(join(tmpdir(), "relay-copy-"));
const worked = join(folder, "worked.db");
/** An id that no agent has. */
const ABSENT_AGENT = "018f5d3a-0000-7000-8000-000000000000";

let load: LoadAgents;
let openTask: string;

let count = 0;
let from: string;
let to: string;

/** A relay that was in use, with open tasks and a text that PostgreSQL cannot store unchanged. */
beforeAll(async () => {
  const relay = startRelay({ ...minimalEnv, AGENT_DB_PATH: worked }, { isExact: true });
  const url = await relay.baseUrl;
  load = await createLoadAgents(url);
  await runLoad(url, load, ({ receipts }) => receipts.size > 50);
  const open = `${url}/agent/${ABSENT_AGENT}/task`;
  const task = { prompt: "an open task \u0000 \u0001 \u{1f600}" };
  const { status, body } = await requestJson(open, OPERATOR_TOKEN, "POST", task);
  if (status !== 201) throw new Error(JSON.stringify(body));
  openTask = `/agent/${ABSENT_AGENT}/task/${String(body["task_id"])}`;
  relay.kill("SIGTERM");
  await relay.ended;
});
beforeEach(async () => {
  count += 1;
  from = join(folder, `source-${count}.db`);
  copyFileSync(worked, from);
  const target = new URL(await openDatabaseOf(`copy-${count}`));
  target.password = PASSWORD;
  to = target.href;
});
afterEach(endRelays);
afterAll(() => rmSync(folder, { recursive: true }));

const startOnFile = () => startRelay({ ...minimalEnv, AGENT_DB_PATH: from }, { isExact: true });
const startOnServer = () =>
  startRelay({ ...minimalEnv, AGENT_DATABASE_URL: to }, { isExact: true });
const startCopy = () =>
  startRelay({ AGENT_DATABASE_URL: to }, { args: ["copy", "--from", from], isExact: true });
const copy = () => copyDatabase({ from, to, migrations });

/** Opens a database as a relay does, and closes it again. */
async function openAsRelay(location: DatabaseLocation): Promise<void> {
  const opened = await openStorage({ ...location, migrations });
  if (!opened.ok) throw new Error(opened.detail);
  await opened.storage.close();
}

/** Replaces the target with a database without tables. */
async function emptyTarget(): Promise<void> {
  to = await openDatabaseOf(`empty-${count}`, "template1");
}

async function expectBooksToAgree(): Promise<void> {
  const env = { AGENT_DATABASE_URL: to };
  const books = startRelay(env, { args: ["reconcile"], isExact: true });
  expect(await books.ended).toEqual({ code: 0, signal: null });
  expect(JSON.parse(books.stdout())).toMatchObject({ consistent: true });
}

test("a relay goes on with its id, key, tasks and money, and the file starts no second one", async () => {
  const copied = startCopy();
  expect(await copied.ended).toEqual({ code: 0, signal: null });
  expect(copied.stdout()).toContain("every sum is the same on both sides");
  await expectBooksToAgree();

  const relay = startOnServer();
  const url = await relay.baseUrl;
  expect(await listMissing(url, load)).toEqual([]);
  const { body } = await requestJson(`${url}/.well-known/agent-relay.json`, OPERATOR_TOKEN);
  const db = new Sqlite(from, { readonly: true });
  expect(body["relay_id"]).toBe(db.prepare("SELECT relay_id FROM relay_identity").pluck().get());
  db.close();
  const pending = await requestJson(url + openTask, OPERATOR_TOKEN);
  expect(JSON.stringify(pending.body)).toContain(String.raw`an open task \u0000 \u0001 😀`);
  const before = load.acknowledged.receipts.size;
  await runLoad(url, load, ({ receipts }) => receipts.size > before + 20);
  expect(await listMissing(url, load)).toEqual([]);
  relay.kill("SIGTERM");
  await relay.ended;
  await expectBooksToAgree();

  const again = startOnFile();
  expect(await again.ended).toEqual({ code: 1, signal: null });
  expect(again.stderr()).toContain("database.moved");
  expect(again.stderr()).toContain(new URL(to).host);
  for (const each of [copied, relay, again]) {
    expect(each.stdout() + each.stderr()).not.toContain(PASSWORD);
  }
});

test("a copy that was killed at any moment can be repeated", async () => {
  await emptyTarget();
  for (const delay of [500, 700, 900]) {
    const killed = startCopy();
    await Promise.race([killed.ended, new Promise((resolve) => setTimeout(resolve, delay))]);
    killed.kill("SIGKILL");
    await killed.ended;
  }
  // The server needs a moment to notice that the client has disconnected.
  await expect.poll(copy, { timeout: 10_000, interval: 500 }).toMatchObject({ ok: true });
  await expectBooksToAgree();
});

test("a first start that was killed before its first migration can be repeated", async () => {
  await emptyTarget();
  await runStatement(
    to,
    "CREATE TABLE schema_migrations (position BIGINT PRIMARY KEY, id TEXT UNIQUE, oldest BIGINT)",
  );
  expect(await copy()).toMatchObject({ ok: true });
});

describe("a crash around the commit", () => {
  test("a crash around the commit leaves a marked file that is copied again while the server has nothing", async () => {
    const db = new Sqlite(from);
    const { markMoved } = await import("../../src/storage/copying/moved-database.ts");
    const { host, pathname } = new URL(to);
    markMoved(db, host + pathname);
    db.close();
    const refused = startOnFile();
    expect(await refused.ended).toEqual({ code: 1, signal: null });
    expect(await copy()).toMatchObject({ ok: true, rows: { relay_identity: 1 } });
  });

  test("a crash around the commit is answered as done when the server has the data", async () => {
    expect(await copy()).toMatchObject({ ok: true });
    expect(await copy()).toMatchObject({ ok: true, rows: undefined });
  });
});

describe("a refused copy leaves the file usable and the server as it was", () => {
  afterEach(() => openAsRelay({ path: from }));

  test("a copy of a running relay is refused", async () => {
    const relay = startOnFile();
    await relay.baseUrl;
    expect(await copy()).toMatchObject({ ok: false, code: "database.locked" });
    relay.kill("SIGTERM");
    await relay.ended;
  });

  test("a copy to a database of another relay is refused", async () => {
    const other = await openStorage({ url: to, migrations });
    if (!other.ok) throw new Error(other.detail);
    expect(await copy()).toMatchObject({ ok: false, code: "database.locked" });
    await loadRelayIdentity(other.storage, { now: Date.now, randomBytes }, undefined);
    await other.storage.close();
    expect(await copy()).toMatchObject({ ok: false, code: "database.exists" });
    expect(await runStatement(to, "SELECT count(*) AS count FROM tasks")).toEqual([{ count: 0 }]);
  });

  test("a copy to a database of another program is refused", async () => {
    await emptyTarget();
    await runStatement(to, "CREATE TABLE theirs AS SELECT 1 AS one");
    expect(await copy()).toMatchObject({ ok: false, code: "database.foreign" });
  });

  test("a copy with an older schema is refused", async () => {
    rmSync(from);
    const db = new Sqlite(from);
    db.pragma(`application_id = ${0x41524c59}`);
    migrate(db, migrations.slice(0, -1));
    db.close();
    expect(await copy()).toMatchObject({ ok: false, code: "database.older" });
  });

  test("a copy to a server that does not answer is refused", async () => {
    to = "postgres://postgres@127.0.0.1:1/relay";
    expect(await copy()).toMatchObject({ ok: false, code: "database.unusable" });
  });
});

test("a copy whose rows differ on the server is refused", async () => {
  const setUp = await copyDatabase({ from: join(folder, "no.db"), to, migrations });
  expect(setUp).toMatchObject({ ok: false, code: "database.missing" });
  // A trigger on the server that changes written rows is a fault that only the sums reveal.
  await runStatement(
    to,
    `CREATE FUNCTION skew() RETURNS trigger LANGUAGE plpgsql AS
     $$ BEGIN NEW.balance := NEW.balance + 1; RETURN NEW; END $$`,
  );
  await runStatement(
    to,
    "CREATE TRIGGER skewed BEFORE INSERT ON accounts FOR EACH ROW EXECUTE FUNCTION skew()",
  );
  expect(await copy()).toMatchObject({ ok: false, code: "database.damaged" });
  expect(await runStatement(to, "SELECT count(*) AS count FROM accounts")).toEqual([{ count: 0 }]);
  await openAsRelay({ path: from });
});
