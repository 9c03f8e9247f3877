import { copyFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { damageTable, fillDatabase } from "../../../test/stored/damaged-database.ts";
import { onlyOn } from "../../../test/engine/engine.ts";
import {
  endRelays,
  minimalEnv,
  parseLogLines,
  startRelay,
  type RelayProcess,
} from "../../../test/processes/relay-process.ts";
import { OPERATOR_TOKEN } from "../../../test/test-relay.ts";
import { migrations } from "../migrations/index.ts";
import { openStorage } from "../open-storage.ts";
import { createFileCheck } from "./file-check.ts";

const folder = mkdtempSync(join(tmpdir(), "relay-check-"));
const filled = join(folder, "filled.db");
let path = filled;
let count = 0;
beforeAll(async () => {
  if (!onlyOn("sqlite")) return;
  // The first start creates what is written only once, such as the key.
  await stop(start());
  fillDatabase(filled);
});
beforeEach(() => {
  count += 1;
  path = join(folder, `relay-${count}.db`);
  if (onlyOn("sqlite")) copyFileSync(filled, path);
});
afterEach(endRelays);
afterAll(() => rmSync(folder, { recursive: true }));

const start = () => startRelay({ ...minimalEnv, AGENT_DB_PATH: path });

async function stop(relay: RelayProcess): Promise<void> {
  await relay.baseUrl;
  relay.kill("SIGTERM");
  expect(await relay.ended).toEqual({ code: 0, signal: null });
}

async function readCheck(url: string) {
  const answer = await fetch(`${url}/health/ready`);
  const { checks } = (await answer.json()) as { checks: { check: string }[] };
  return { status: answer.status, line: checks.find(({ check }) => check === "storage_check") };
}

const post = async (url: string, about: string, body: unknown = {}) => {
  const answer = await fetch(`${url}/api/v1/admin/${about}`, {
    method: "POST",
    headers: { authorization: `Bearer ${OPERATOR_TOKEN}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
};

describe.runIf(onlyOn("sqlite"))("the check of the database's file", () => {
  test("G1: a relay with a damaged table starts, freezes when the check finds it and leaves the file", async () => {
    damageTable(path, "idempotency_keys");
    const relay = start();
    const url = await relay.baseUrl;
    await vi.waitFor(
      async () => {
        expect(await readCheck(url)).toMatchObject({
          status: 200,
          line: { ok: false, detail: expect.stringContaining("idempotency_keys") as string },
        });
      },
      { timeout: 30_000 },
    );
    const before = readFileSync(path);
    const agent = { agent_id: "0197a1b2-0000-7000-8000-000000000001", public_key: "a".repeat(64) };
    const refused = await fetch(`${url}/api/v1/agents/bootstrap`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(agent),
    });
    expect(await refused.json()).toMatchObject({ code: "server.frozen" });
    expect(await post(url, "freeze", { reason: "later" })).toMatchObject({
      status: 200,
      body: { reason: expect.stringContaining("the database is damaged") as string },
    });
    expect(await post(url, "unfreeze", { restored: true })).toMatchObject({
      status: 409,
      body: { code: "server.damaged" },
    });
    await stop(relay);
    expect(readFileSync(path).equals(before)).toBe(true);
    const logged = parseLogLines(relay.stderr()).map(({ msg }) => msg);
    expect(logged.filter((msg) => msg === "storage.check_failed")).toHaveLength(1);
    const db = new Sqlite(path, { readonly: true });
    expect(db.prepare("SELECT count(*) FROM freeze").pluck().get()).toBe(0);
    db.close();
  });

  test("G1: a relay with an undamaged file shows when the check passed and stays writable", async () => {
    const relay = start();
    const url = await relay.baseUrl;
    await vi.waitFor(
      async () => {
        expect(await readCheck(url)).toMatchObject({
          status: 200,
          line: { ok: true, detail: expect.stringMatching(/^passed at \d{4}-/) as string },
        });
      },
      { timeout: 30_000 },
    );
    expect(await post(url, "freeze", { reason: "an audit" })).toMatchObject({ status: 200 });
    expect(await post(url, "unfreeze")).toMatchObject({ status: 200, body: { frozen: false } });
    await stop(relay);
  });

  test.each(["relay_identity", "clock", "schema_migrations"])(
    "G1: a damaged table that every start needs, %s, stops the start and is not changed",
    async (table) => {
      damageTable(path, table);
      const before = readFileSync(path);
      const relay = start();
      expect(await relay.ended).toEqual({ code: 1, signal: null });
      expect(parseLogLines(relay.stderr())).toMatchObject([
        { msg: "relay.start_refused", code: "database.damaged" },
      ]);
      expect(readFileSync(path).equals(before)).toBe(true);
    },
  );

  test("G1: the command check finds the damaged table at once", async () => {
    const whole = join(folder, "whole.db");
    copyFileSync(path, whole);
    damageTable(path, "idempotency_keys");
    const check = (file: string) =>
      startRelay({ AGENT_DB_PATH: file }, { args: ["check"] }).ended.then(({ code }) => code);
    expect([await check(path), await check(whole)]).toEqual([1, 0]);
  });

  test("G1: a stop ends a running check at once", async () => {
    const check = createFileCheck(path);
    let isRunning = (): void => {};
    const running = new Promise<void>((resolve) => (isRunning = resolve));
    const verdict = check.run(isRunning);
    await running;
    await check.stop();
    expect(await verdict).toBeUndefined();
    expect(check.isDamaged()).toBe(false);
  });

  test("G1: a file that cannot be read completely is not reported as damaged", async () => {
    const check = createFileCheck(join(folder, "none", "relay.db"));
    expect(await check.run(() => {})).toMatchObject({ ok: false, code: "database.unusable" });
    expect(check.isDamaged()).toBe(false);
  });

  test("G1: a relay that is closed during the check waits for the end of the checking process", async () => {
    const opened = await openStorage({ path, migrations });
    if (!opened.ok) throw new Error(opened.detail);
    const verdict = opened.fileCheck!.run(() => {});
    await opened.storage.close();
    expect(await verdict).toBeUndefined();
    expect(await openStorage({ path, migrations })).toMatchObject({ ok: true });
  });
});
