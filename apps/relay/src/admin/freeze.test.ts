import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  createBuyer,
  submitAcceptedTask,
  expectConsistentBooks,
  createSeller,
  submitTask,
  getTaskAt,
} from "../../test/market.ts";
import { openMigrated } from "../../test/stored/migrated-storage.ts";
import { createReceipt, startTestRelay, type TestRelay } from "../../test/test-relay.ts";
import { migrations } from "../storage/migrations/index.ts";
import { loadFreezer } from "./freeze.ts";

let t: TestRelay;
beforeEach(async () => {
  t = await startTestRelay();
});
afterEach(() => t.close());

const freeze = (reason = "an audit") => t.asOperator("POST", "/api/v1/admin/freeze", { reason });
const unfreeze = () => t.asOperator("POST", "/api/v1/admin/unfreeze");
const frozen = { status: 503, body: { code: "server.frozen" } };

describe("a frozen relay", () => {
  test("a frozen relay refuses writes and answers reads", async () => {
    const [boss, worker] = [await createBuyer(t, 10), await createSeller(t, 2)];
    const task = await submitAcceptedTask(t, boss, worker);
    expect(await freeze()).toMatchObject({
      status: 200,
      body: { frozen: true, reason: "an audit", since: t.clock.now() },
    });
    const refused = await submitTask(t, boss, worker);
    expect(refused).toMatchObject(frozen);
    expect(refused.headers.get("retry-after")).toBe("60");
    const receipt = createReceipt(worker, task);
    expect(await t.as(worker, "POST", `${task.path}/result`, receipt)).toMatchObject(frozen);
    expect(await t.as(boss, "POST", `${task.path}/cancel`)).toMatchObject(frozen);
    expect(await t.getBalance(boss)).toBe(7.6);
    expect(await getTaskAt(t, task.path)).toMatchObject({ status: "pending" });
    expect(await t.request("GET", "/health/ready")).toMatchObject({ status: 200 });
    await expectConsistentBooks(t, { holds: 2.4 });
    await unfreeze();
    expect(await t.as(worker, "POST", `${task.path}/result`, receipt)).toMatchObject({
      status: 200,
    });
  });

  test("a freeze lets no task expire, and extends the lifetime of every open task by its own duration", async () => {
    const [boss, worker] = [await createBuyer(t, 10), await createSeller(t, 2)];
    const task = await submitAcceptedTask(t, boss, worker);
    const { expires_at } = await getTaskAt(t, task.path);
    await t.clock.advance(899_999);
    await freeze();
    await t.clock.advance(5_000_000);
    await t.relay.tick();
    expect(await getTaskAt(t, task.path)).toMatchObject({ status: "pending", expires_at });
    const asked = async (what: string) => (await t.asOperator("GET", `${task.path}/${what}`)).body;
    expect(await asked("routing")).toMatchObject({ code: "routing.not_found" });
    expect(await asked("evidence")).toMatchObject({ code: "task.no_receipt" });
    await unfreeze();
    expect(await getTaskAt(t, task.path)).toMatchObject({ expires_at: expires_at + 5_000_000 });
    await t.relay.tick();
    expect(await getTaskAt(t, task.path)).toMatchObject({ status: "pending" });
    await t.clock.advance(1);
    expect(await t.asOperator("GET", task.path)).toMatchObject({ status: 404 });
    await t.clock.advance(1_000);
    await t.relay.tick();
    expect(await t.getBalance(boss)).toBe(10);
  });

  test("a relay that is frozen twice keeps the first freeze, and may be unfrozen twice", async () => {
    await freeze("first");
    const since = t.clock.now();
    await t.clock.advance(10);
    expect(await freeze("second")).toMatchObject({ body: { reason: "first", since } });
    for (let i = 0; i < 2; i += 1) {
      expect(await unfreeze()).toMatchObject({
        status: 200,
        body: { frozen: false, reason: null, since: null },
      });
    }
  });

  test("only the operator may freeze the relay", async () => {
    const agent = await t.createAgent();
    for (const path of ["/api/v1/admin/freeze", "/api/v1/admin/unfreeze"]) {
      expect(await t.as(agent, "POST", path, { reason: "mine" })).toMatchObject({ status: 403 });
    }
    expect(await freeze("")).toMatchObject({ status: 400 });
    await t.deposit(agent, 1);
  });

  test("a relay is still frozen after a restart, and its downtime counts too", async () => {
    const folder = mkdtempSync(join(tmpdir(), "relay-frozen-"));
    const env = { AGENT_DB_PATH: join(folder, "relay.db") };
    const before = await startTestRelay(env);
    const boss = await before.createAgent();
    const { body } = await submitTask(before, boss, boss);
    const path = `/agent/${boss.agentId}/task/${String(body["task_id"])}`;
    await before.asOperator("POST", "/api/v1/admin/freeze", { reason: "moving house" });
    await before.close();

    const after = await startTestRelay(env, 2);
    await after.clock.advance(2_000_000);
    await after.relay.tick();
    expect(await submitTask(after, boss, boss)).toMatchObject(frozen);
    expect(await after.asOperator("GET", path)).toMatchObject({ status: 200 });
    await after.asOperator("POST", "/api/v1/admin/unfreeze");
    await after.relay.tick();
    expect(await after.asOperator("GET", path)).toMatchObject({ status: 200 });
    expect(await submitTask(after, boss, boss)).toMatchObject({ status: 201 });
    await after.close();
    rmSync(folder, { recursive: true });
  });
});

test("G1: damage that is found during an unfreeze keeps the relay frozen", async () => {
  const opened = await openMigrated({ migrations });
  if (!opened.ok) throw new Error(opened.code);
  const freezer = await loadFreezer(opened.storage, { now: () => 1 });
  await freezer.freeze("an audit", "operator");
  const unfreezing = freezer.unfreeze();
  freezer.freezeDamaged("a page of noise");
  await unfreezing;
  expect(freezer.frozen()).toMatchObject({ damaged: true, reason: "a page of noise" });
  await expect(freezer.storage.transaction(async () => {})).rejects.toThrow("frozen");
  await opened.storage.close();
});
