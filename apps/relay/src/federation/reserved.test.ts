import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createManualClock, createReceipt, type TestAgent } from "@agent/testkit";
import Sqlite from "better-sqlite3";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { backUpStored, restoreStored } from "../../test/engine/backup.ts";
import { onlyOn } from "../../test/engine/engine.ts";
import { readBesideRelay } from "../../test/engine/stored.ts";
import { federated, relayTask } from "../../test/contract/operator/federation.ts";
import { startListeningPeer } from "../../test/network/listening-peer.ts";
import type { ProxyAction } from "../../test/network/lossy-proxy.ts";
import {
  submitToBest,
  waitForTask,
  waitUntil,
  type TestSite,
  startTwoSites,
  closeSites,
  advanceUntil,
  type TwoSites,
  listPeers,
} from "../../test/network/network.ts";
import { startTestRelay } from "../../test/test-relay.ts";
import { federationGuards } from "../storage/migrations/020-federation-guards.ts";
import { migrations } from "../storage/migrations/index.ts";
import { migrate } from "../storage/database/migrate.ts";
import { listPeerReservations } from "./settlement/reserved-store.ts";

const DAY_MS = 86_400_000;
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "reserved-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

/**
 * Reads the reserved amounts as stored and as implied by tasks, holds and outbox; empty if there are none.
 */
const reservedIn = (name: string) =>
  readBesideRelay(join(folder, `${name}.db`), listPeerReservations);

const shownAt = async (site: Pick<TestSite, "asOperator">) =>
  (await listPeers(site)).map(({ reserved }) => reserved);

const positionsIn = async (site: Pick<TestSite, "asOperator">) =>
  (await listPeers(site)).map(({ position }) => position);

describe("A2: the amount reserved for a peer", () => {
  const clock = createManualClock();
  let proxies: TwoSites["proxies"];
  let chooseAction: (path: string) => ProxyAction;
  let a: TestSite;
  let b: TestSite;
  let boss: TestAgent;
  let worker: TestAgent;
  beforeEach(async () => {
    chooseAction = () => "pass";
    const alpha = {
      AGENT_DB_PATH: join(folder, "alpha.db"),
      AGENT_FEDERATION_CREDIT_LIMIT: "1",
    };
    const scene = await startTwoSites({ clock, chooseAction: (path) => chooseAction(path), alpha });
    ({ proxies, a, b, boss, worker } = scene);
  });
  afterEach(() => closeSites([a, b], proxies));

  const pass = (what: string, stepMs: number, done: () => Promise<boolean>) =>
    advanceUntil(clock, [a, b], { stepMs, what }, done);

  const receipt = async (taskId: string, status: "completed" | "failed" | "denied") => {
    const task = await waitForTask(b, worker, taskId);
    const path = `/agent/${task.agent_id}/task/${taskId}/result`;
    await b.as(worker, "POST", path, createReceipt(worker, task, { status }));
  };
  const settled = () => waitUntil(async () => (await a.getBalance(boss)) === 9, "it is settled");
  const returned = () =>
    waitUntil(async () => (await a.getBalance(boss)) === 10, "the hold comes back");

  test.each<[string, (taskId: string) => Promise<unknown>]>([
    [
      "is settled",
      async (taskId) => {
        await receipt(taskId, "completed");
        await settled();
      },
    ],
    [
      "fails",
      async (taskId) => {
        await receipt(taskId, "failed");
        await returned();
      },
    ],
    [
      "is denied",
      async (taskId) => {
        await receipt(taskId, "denied");
        await returned();
      },
    ],
    [
      "expires",
      async () => {
        await pass("it expires", 900_000, async () => (await a.getBalance(boss)) === 10);
      },
    ],
    [
      "is refunded, because no settlement ever arrived",
      async (taskId) => {
        chooseAction = (path) => (path.includes("/settlement/forward") ? "refuse" : "pass");
        await receipt(taskId, "completed");
        await pass("it is refunded", 600_000, async () => (await a.getBalance(boss)) === 10);
      },
    ],
  ])("the amount reserved for a peer is 0 again after a task that %s", async (_, end) => {
    const { body } = await submitToBest(a, boss);
    const taskId = String(body["task_id"]);
    await waitUntil(async () => (await shownAt(a))[0] === 0.95, "it is reserved");
    expect(await reservedIn("alpha")).toEqual([
      { relay_id: b.relayId, stored: 950_000, derived: 950_000 },
    ]);
    await end(taskId);
    expect(await shownAt(a)).toEqual([0]);
    expect(await reservedIn("alpha")).toEqual([]);
  });

  test("the reserved amount counts against a peer's credit: a second task waits until the first has ended", async () => {
    const first = String((await submitToBest(a, boss)).body["task_id"]);
    await waitUntil(async () => (await shownAt(a))[0] === 0.95, "it is reserved");
    await submitToBest(a, boss);
    await waitUntil(() => a.listLogged("federation.forward.refused").length === 1, "it is refused");
    expect(a.listLogged("federation.forward.refused")).toMatchObject([
      { code: "clearing.limit_exceeded", relay_id: b.relayId },
    ]);
    await receipt(first, "failed");
    await pass("the second goes out", 60_000, async () => (await shownAt(a))[0] === 0.95);
    expect(await reservedIn("alpha")).toEqual([
      { relay_id: b.relayId, stored: 950_000, derived: 950_000 },
    ]);
  });
});

test("A2: a middle relay reserves for the next one until the hold of the previous one expires", async () => {
  const clock = createManualClock();
  const env = { ...federated, AGENT_DB_PATH: join(folder, "here.db") };
  const t = await startTestRelay(env, 1, clock);
  const before = await startListeningPeer(({ path }) =>
    path.endsWith("/task/result") ? { status: "accepted" } : {},
  );
  const { next } = await relayTask(t, before.url);
  await waitUntil(
    () => t.listLogged("federation.result.returned").length === 1,
    "the result is taken",
  );
  expect(await reservedIn("here")).toEqual([
    { relay_id: next.relayId, stored: 902_500, derived: 902_500 },
  ]);
  await clock.advance(DAY_MS);
  await t.relay.tick();
  await waitUntil(async () => (await reservedIn("here")).length === 0, "the hold lapses");
  expect(await shownAt(t)).toEqual([0, 0]);
  await Promise.all([t.close(), before.close()]);
});

test("A2: a middle relay reserves nothing for a result that the previous one accepts after the hold expired", async () => {
  const clock = createManualClock();
  const env = { ...federated, AGENT_DB_PATH: join(folder, "here.db") };
  const t = await startTestRelay(env, 1, clock);
  let answer: object | undefined;
  const before = await startListeningPeer(({ path }) =>
    path.endsWith("/task/result") ? answer : {},
  );
  await relayTask(t, before.url);
  const hours = (what: string, done: () => Promise<boolean> | boolean) =>
    waitUntil(async () => {
      if (await done()) return true;
      await clock.advance(3_600_000);
      await t.relay.tick();
      return false;
    }, what);
  const nothingLeaks = async () => {
    expect(await reservedIn("here")).toEqual([]);
    const { body } = await t.asOperator("GET", "/api/v1/admin/reconciliation");
    expect(body).toMatchObject({ consistent: true });
  };
  await hours("the hold lapses", async () => (await positionsIn(t)).every((owed) => owed === 0));
  await nothingLeaks();
  answer = { status: "accepted" };
  const taken = () =>
    t.listLogged("federation.result.returned").some(({ state }) => state === "completed");
  await hours("the result is taken", taken);
  await nothingLeaks();
  await hours(
    "the peer defaults",
    () => t.listLogged("federation.settlement.defaulted").length > 0,
  );
  await nothingLeaks();
  expect(await shownAt(t)).toEqual([0, 0]);
  await Promise.all([t.close(), before.close()]);
});

test("A2: a middle relay reserves nothing for a result that the previous one has read and refused", async () => {
  const env = { ...federated, AGENT_DB_PATH: join(folder, "here.db") };
  const t = await startTestRelay(env, 1, createManualClock());
  const before = await startListeningPeer(({ path }, response) => {
    if (!path.endsWith("/task/result")) return {};
    response.writeHead(404, { "content-type": "application/json" });
    return void response.end(JSON.stringify({ code: "result.task_not_found" }));
  });
  await relayTask(t, before.url);
  await waitUntil(
    () => t.listLogged("federation.result.returned").some(({ state }) => state === "void"),
    "the result is refused",
  );
  expect(await reservedIn("here")).toEqual([]);
  const { body } = await t.asOperator("GET", "/api/v1/admin/reconciliation");
  expect(body).toMatchObject({ consistent: true });
  await Promise.all([t.close(), before.close()]);
});

test.each<[string, string | undefined, number[]]>([
  ["accepts it again, which it must still settle", undefined, [902_500]],
  ["then refuses it, which it can settle no more", "result.task_not_found", []],
])(
  "FE32: a middle relay returns an accepted result again after a restore, and the previous one %s",
  async (_, code, reserved) => {
    const [path, backup] = [join(folder, "here.db"), join(folder, "backup.db")];
    const env = { ...federated, AGENT_DB_PATH: path };
    const clock = createManualClock();
    const first = await startTestRelay(env, 1, clock);
    let isRestored = false;
    const before = await startListeningPeer(({ path: asked }, response) => {
      if (!asked.endsWith("/task/result")) return {};
      if (code === undefined || !isRestored) return { status: "accepted" };
      response.writeHead(404, { "content-type": "application/json" });
      return void response.end(JSON.stringify({ code }));
    });
    const returned = (t: Pick<TestSite, "listLogged">) =>
      waitUntil(() => t.listLogged("federation.result.returned").length === 1, "it is returned");
    await relayTask(first, before.url);
    await returned(first);
    await backUpStored(path, backup);
    await first.close();
    await clock.advance(1_000);
    await restoreStored(path, backup, clock.now());
    isRestored = true;
    const t = await startTestRelay(env, 2, clock);
    const resumed = await t.asOperator("POST", "/api/v1/admin/unfreeze", { restored: true });
    expect(resumed.status).toBe(200);
    await t.relay.tick();
    await returned(t);
    const amounts = (await reservedIn("here")).map(({ stored, derived }) => [stored, derived]);
    expect(amounts).toEqual(reserved.map((amount) => [amount, amount]));
    const { body } = await t.asOperator("GET", "/api/v1/admin/reconciliation");
    expect(body).toMatchObject({ consistent: true });
    await Promise.all([t.close(), before.close()]);
  },
);

test.runIf(onlyOn("sqlite"))(
  "A2: an upgrade from the previous version drops reservations for tasks that ended without their peer",
  () => {
    const db = new Sqlite(":memory:");
    migrate(db, migrations.slice(0, migrations.indexOf(federationGuards)));
    const insert = (table: string, row: Record<string, unknown>) =>
      db
        .prepare(
          `INSERT INTO ${table} (${Object.keys(row).join()}) VALUES (${Object.keys(row)
            .map(() => "?")
            .join()})`,
        )
        .run(...Object.values(row));
    insert("federation_peers", {
      relay_id: "beta",
      public_key: "",
      endpoint_url: "",
      display_name: "",
      state: "active",
      credit_limit: 1_000_000,
      reserved: 3_000_000,
      missed_heartbeats: 0,
      last_timestamp: 0,
      agent_count: 0,
      forwards: "[]",
    });
    const outbound = (task_id: string, change: object) =>
      insert("federation_outbound", {
        task_id,
        relay_id: "beta",
        version: 1,
        route: "[]",
        ended_at: "ended" in change ? 5 : null,
        body: JSON.stringify({
          taskId: task_id,
          peerId: "beta",
          terms: { gross: 100, fee: 5, net: 95, feeRate: 0.05 },
          expiresAt: 5,
          receiptHash: null,
          receiptStatus: null,
          ...change,
        }),
      });
    const claimed = (task_id: string) =>
      db
        .prepare(
          `INSERT INTO tasks (task_id, agent_id, status, prompt, required_capabilities, submitted_at,
          expires_at, attempts, attempt, charge, locked, blamed, claimed_by)
        VALUES (?, 'x', 'claimed', 'p', '[]', 0, 5, '[]', 0, 0, 0, 0, 'relay beta')`,
        )
        .run(task_id);
    claimed("open");
    outbound("open", { state: "forwarded" });
    outbound("stolen", { state: "forwarded" });
    outbound("failed", { state: "failed", ended: true });
    outbound("middle", { state: "completed", receiptStatus: "completed", ended: true });
    insert("federation_inbound", {
      task_id: "middle",
      relay_id: "alpha",
      version: 1,
      body: JSON.stringify({ hold: "open", receiptStatus: "completed" }),
    });
    const settlement = { settlementId: "s", peerId: "beta", terms: { net: 7 } };
    insert("federation_outbox", {
      settlement_id: "s",
      task_id: "owed",
      relay_id: "beta",
      state: "pending",
      version: 1,
      body: JSON.stringify({ settlement }),
    });
    migrate(db, migrations);
    const payable = db
      .prepare("SELECT task_id, payable, body ->> '$.state' AS state FROM federation_outbound")
      .all();
    expect(payable).toEqual([
      { task_id: "failed", payable: 0, state: "failed" },
      { task_id: "middle", payable: 95, state: "completed" },
      { task_id: "open", payable: 95, state: "forwarded" },
      { task_id: "stolen", payable: 0, state: "void" },
    ]);
    expect(db.prepare("SELECT payable FROM federation_outbox").pluck().all()).toEqual([7]);
    db.close();
  },
);
