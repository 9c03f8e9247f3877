import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { NoShowRecord } from "@agent/receipts";
import { manualClock, type TestAgent } from "@agent/testkit";
import { verifyArtifact } from "@agent/verify";
import type { CallToolResult } from "@modelcontextprotocol/server";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { quiet, serveTestRelay, type Device, type ServedRelay } from "../../test/devices.ts";
import { mcpEndpoint, register } from "../../test/endpoint.ts";
import {
  buyer,
  delegate,
  expectConsistentBooks,
  holdingsOf,
  seller,
  taskAt,
  type Delegation,
} from "../../test/market.ts";
import { receiptOf, startTestRelay, type TestRelay } from "../../test/test-relay.ts";

let t: ServedRelay;
let boss: TestAgent;
let worker: TestAgent;
/** Shorter than a token, so that sockets stay open. */
const ttlMs = 240_000;
beforeEach(async () => {
  t = await serveTestRelay({ AGENT_TASK_TTL_MS: String(ttlMs) });
  [boss, worker] = [await buyer(t, 10), await seller(t, 2)];
  await t.clock.advance(1_000);
});
afterEach(() => t.close());

const folder = mkdtempSync(join(tmpdir(), "relay-no-shows-"));
afterAll(() => rmSync(folder, { recursive: true }));

async function claimant(body = {}): Promise<{ device: Device; task: Delegation }> {
  const device = await t.device(worker);
  const task = await delegate(t, boss, worker, body);
  await device.next("task_assigned");
  device.say({ type: "claim", task_id: task.task_id });
  await device.next("claimed");
  return { device, task };
}

/** What the submitter knows of the worker. */
async function failuresFor(by = boss, relay: TestRelay = t): Promise<number> {
  const [holdings] = await holdingsOf(relay, [by]);
  return holdings?.trust.reduce((sum, { failed_tasks }) => sum + failed_tasks, 0) ?? 0;
}

/** How many tasks of the worker count for an agent that has no record of its own. */
async function countedByStrangers({ agentId }: TestAgent): Promise<number> {
  const stranger = await buyer(t, 10);
  const task = await delegate(t, stranger, stranger, { required_capabilities: ["summarise"] });
  const { status, body } = await t.as(stranger, "GET", `${task.path}/routing`);
  expect(status).toBe(200);
  const candidates = body["candidates"] as { agent_id: string; counted: number }[];
  const found = candidates.find(({ agent_id }) => agent_id === agentId);
  await t.as(stranger, "POST", `${task.path}/cancel`);
  return found?.counted ?? -1;
}

const expired = async (by = boss) => {
  const path = `/agent/${by.agentId}/tasks?submitted_by=me`;
  const [all, only] = [
    await t.as(by, "GET", path),
    await t.as(by, "GET", `${path}&status=expired`),
  ];
  expect(all.status).toBe(200);
  const rows = only.body["tasks"] as { task_id: string; status: string; prompt: string }[];
  const shown = (all.body["tasks"] as { status: string }[]).filter(
    ({ status }) => status === "expired",
  );
  expect(shown).toEqual(rows);
  return rows;
};

async function recordsOf({ path }: Delegation, by = boss): Promise<NoShowRecord[]> {
  const { status, text } = await t.as(by, "GET", `${path}/evidence`);
  expect(status).toBe(200);
  expect(verifyArtifact(text)).toMatchObject({ kind: "no_show", valid: true });
  return (JSON.parse(text) as { no_shows: NoShowRecord[] }).no_shows;
}

describe("B2: a worker that claims a task and does nothing", () => {
  test("B2: loses it at the wall clock, though its socket is open, and the next one is asked", async () => {
    const { device, task } = await claimant({ wall_clock_ms: 30_000 });
    await t.pass(29_000);
    expect((await taskAt(t, task.path)).status).toBe("claimed");
    await t.pass(6_000);
    expect((await taskAt(t, task.path)).status).toBe("pending");
    expect(await device.next("task_assigned")).toMatchObject({ task: { task_id: task.task_id } });
    expect(await failuresFor()).toBe(1);
    // Whoever does it after all is paid.
    device.say({ type: "result", task_id: task.task_id, receipt: { ...receiptOf(worker, task) } });
    await device.next("result_accepted");
    expect(await t.balance(worker)).toBe(1.9);
    const { text } = await t.as(boss, "GET", `${task.path}/evidence`);
    expect(verifyArtifact(text)).toMatchObject({ kind: "bundle", valid: true });
    expect(JSON.parse(text)).toMatchObject({
      no_shows: [{ task_id: task.task_id, agent_id: worker.agentId, wall_clock_ms: 30_000 }],
    });
  });

  test("B2: until the task expires leaves a row, a failed task and a signed statement", async () => {
    const { task } = await claimant();
    const claimed_at = t.clock.now();
    await t.pass(ttlMs);
    await t.pass(2_000);
    expect((await t.as(boss, "GET", task.path)).status).toBe(404);
    expect(await expired()).toMatchObject([
      { task_id: task.task_id, status: "expired", prompt: "", agent_id: worker.agentId },
    ]);
    expect(await failuresFor()).toBe(1);
    const [record] = await recordsOf(task);
    expect(record).toMatchObject({
      type: "no_show",
      task_id: task.task_id,
      agent_id: worker.agentId,
      claimed_at,
      lapsed_at: task.submitted_at + ttlMs,
      wall_clock_ms: null,
      priced: true,
      issuer: t.did,
    });
    expect(await recordsOf(task, worker)).toEqual([record]);
    const stranger = await t.agent();
    expect(await t.as(stranger, "GET", `${task.path}/evidence`)).toMatchObject({ status: 403 });
    expect(await t.balance(boss)).toBe(10);
    await expectConsistentBooks(t, { holds: 0 });
  });

  test("B12: whose last sign of work was just before the expiry is not blamed, and nothing is kept", async () => {
    const { device, task } = await claimant();
    await t.pass(ttlMs - 20_000);
    device.say({ type: "progress", task_id: task.task_id });
    await t.pass(22_000);
    expect((await t.as(boss, "GET", task.path)).status).toBe(404);
    expect([await failuresFor(), await expired()]).toEqual([0, []]);
    expect((await t.as(boss, "GET", `${task.path}/evidence`)).status).toBe(404);
  });

  test("B2: counts once for a task, however often it claims it again", async () => {
    const { device, task } = await claimant({ wall_clock_ms: 1 });
    for (let i = 0; i < 5; i += 1) {
      await t.pass(6_000);
      await device.next("task_assigned");
      device.say({ type: "claim", task_id: task.task_id });
      await device.next("claimed");
    }
    await t.pass(ttlMs);
    await t.pass(2_000);
    expect(await failuresFor()).toBe(1);
    expect(await expired()).toHaveLength(1);
  });

  test("B2: by the lapse of its lease fails for its customer too", async () => {
    const { device, task } = await claimant();
    device.socket.terminate();
    await device.closed;
    await quiet();
    await t.pass(60_000);
    await t.pass(6_000);
    expect((await taskAt(t, task.path)).status).toBe("pending");
    expect(await failuresFor()).toBe(1);
    expect(await expired()).toEqual([]);
    await t.pass(ttlMs);
    await t.pass(2_000);
    expect(await expired()).toMatchObject([{ task_id: task.task_id }]);
  });
});

describe("B2: what is no no-show:", () => {
  test.each(["release", "refuse"] as const)("B2: a %s of the holder", async (type) => {
    const { device, task } = await claimant();
    await t.pass(30_000);
    device.say({ type, task_id: task.task_id });
    await quiet();
    await t.pass(ttlMs);
    await t.pass(2_000);
    expect([await failuresFor(), await expired()]).toEqual([0, []]);
  });

  test("B2: the expiry of a task that nobody claimed", async () => {
    const task = await delegate(t, boss, worker);
    await t.pass(ttlMs);
    await t.pass(2_000);
    expect([await failuresFor(), await expired()]).toEqual([0, []]);
    expect((await t.as(boss, "GET", `${task.path}/evidence`)).status).toBe(404);
  });

  test("B2: a call of an endpoint that is still open when the task expires", async () => {
    const endpoint = await mcpEndpoint(() => new Promise<CallToolResult>(() => {}));
    await register(t, worker, endpoint.url);
    await delegate(t, boss, worker);
    await expect.poll(() => endpoint.calls).toHaveLength(1);
    await t.pass(ttlMs);
    await t.pass(2_000);
    await expect.poll(() => t.logged("mcp.forward_failed").length).toBeGreaterThan(0);
    expect(await failuresFor()).toBe(0);
    await endpoint.close();
  });

  test("B2: a claim from before a freeze that ends within 2 minutes after it", async () => {
    const { device } = await claimant();
    device.socket.terminate();
    await device.closed;
    await t.asMaster("POST", "/api/v1/admin/freeze", { reason: "test" });
    await t.pass(600_000);
    expect((await t.asMaster("POST", "/api/v1/admin/unfreeze")).status).toBe(200);
    await t.pass(70_000);
    expect(await failuresFor()).toBe(0);
  });

  test("B2: a claim from before a restart that ends within 2 minutes after it", async () => {
    const clock = manualClock();
    const env = { AGENT_DB_PATH: join(folder, "relay.db") };
    const before = await startTestRelay(env, 1, clock);
    const [payer, seller_] = [await buyer(before, 10), await seller(before, 2)];
    await clock.advance(1_000);
    const [early, late] = [
      await delegate(before, payer, seller_),
      await delegate(before, payer, seller_),
    ];
    for (const { path } of [early, late]) await before.as(seller_, "POST", `${path}/claim`);
    await before.close();
    await clock.advance(61_000);
    const after = await startTestRelay(env, 2, clock);
    // One device comes back for its task in time, and only then does nothing.
    await after.as(seller_, "POST", `${late.path}/claim`);
    await after.relay.tick();
    await clock.advance(60_000);
    await after.relay.tick();
    expect(await failuresFor(payer, after)).toBe(0);
    await after.as(seller_, "POST", `${early.path}/claim`);
    await clock.advance(66_000);
    await after.relay.tick();
    expect(await failuresFor(payer, after)).toBe(1);
    await after.close();
  });
});

describe("B2: to strangers", () => {
  // The listing promises 1,000 ms.
  test.each([
    ["a priced no-show that had the time of the listing counts", 2, 1_000, 1],
    ["one with less time counts for its customer only", 2, 999, 0],
    ["a free one counts for its customer only", 0, 1_000, 0],
    ["one by a wall clock of 1 ms counts for its customer only", 2, 1, 0],
  ] as const)("B2: %s", async (_, price, wall_clock_ms, expected) => {
    const executor = await seller(t, price);
    const before = await countedByStrangers(executor);
    const task = await delegate(t, boss, executor, { wall_clock_ms });
    await t.as(executor, "POST", `${task.path}/claim`);
    await t.pass(8_000);
    expect(await failuresFor()).toBe(1);
    expect(await countedByStrangers(executor)).toBe(before + expected);
  });
});
