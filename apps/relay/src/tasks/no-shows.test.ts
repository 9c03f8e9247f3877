import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { NoShowRecord } from "@agent/receipts";
import { createManualClock, type TestAgent } from "@agent/testkit";
import { verifyArtifact } from "@agent/verify";
import type { CallToolResult } from "@modelcontextprotocol/server";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  settleEventLoop,
  claimNewTask,
  serveTestRelay,
  type Device,
  type ServedRelay,
} from "../../test/devices.ts";
import { startMcpEndpoint, registerEndpoint } from "../../test/network/endpoint.ts";
import {
  createBuyer,
  submitAcceptedTask,
  expectConsistentBooks,
  getAgentStates,
  createSeller,
  getTaskAt,
  type Delegation,
} from "../../test/market.ts";
import { copyStored } from "../../test/engine/stored.ts";
import { waitUntil } from "../../test/network/network.ts";
import { createReceipt, startTestRelay, type TestRelay } from "../../test/test-relay.ts";

let t: ServedRelay;
let boss: TestAgent;
let worker: TestAgent;
/** Shorter than a token, so that sockets stay open. */
const TTL_MS = 240_000;
beforeEach(async () => {
  t = await serveTestRelay({ AGENT_TASK_TTL_MS: String(TTL_MS) });
  [boss, worker] = [await createBuyer(t, 10), await createSeller(t, 2)];
  await t.clock.advance(1_000);
});
afterEach(() => t.close());

const folder = mkdtempSync(join(tmpdir(), "relay-no-shows-"));
afterAll(() => rmSync(folder, { recursive: true }));

const claimant = (body = {}) => claimNewTask(t, boss, worker, body);

/** Counts the worker's failures in the submitter's trust record. */
async function failuresFor(by = boss, relay: TestRelay = t): Promise<number> {
  const [holdings] = await getAgentStates(relay, [by]);
  return holdings?.trust.reduce((sum, { failed_tasks }) => sum + failed_tasks, 0) ?? 0;
}

/** Counts the worker's tasks in the view of an agent without a record of its own. */
async function countedByStrangers({ agentId }: TestAgent): Promise<number> {
  const stranger = await createBuyer(t, 10);
  const task = await submitAcceptedTask(t, stranger, stranger, {
    required_capabilities: ["summarise"],
  });
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
  test("B2: an idle worker with an open socket loses the task at the wall clock, and the next one gets it", async () => {
    const { device, task } = await claimant({ wall_clock_ms: 30_000 });
    await t.advance(29_000);
    expect((await getTaskAt(t, task.path)).status).toBe("claimed");
    await t.advance(6_000);
    expect((await getTaskAt(t, task.path)).status).toBe("pending");
    expect(await device.next("task_assigned")).toMatchObject({ task: { task_id: task.task_id } });
    expect(await failuresFor()).toBe(1);
    // The agent that finally does the task is paid.
    device.send({
      type: "result",
      task_id: task.task_id,
      receipt: { ...createReceipt(worker, task) },
    });
    await device.next("result_accepted");
    expect(await t.getBalance(worker)).toBe(1.9);
    const { text } = await t.as(boss, "GET", `${task.path}/evidence`);
    expect(verifyArtifact(text)).toMatchObject({ kind: "bundle", valid: true });
    expect(JSON.parse(text)).toMatchObject({
      no_shows: [{ task_id: task.task_id, agent_id: worker.agentId, wall_clock_ms: 30_000 }],
    });
  });

  test("B2: an idle worker loses the task at the wall clock to the next executor, which is paid", async () => {
    const rival = await createSeller(t, 2);
    const devices = new Map<string | null, Device>();
    for (const each of [worker, rival]) devices.set(each.agentId, await t.connectDevice(each));
    const task = await submitAcceptedTask(t, boss, boss, {
      required_capabilities: ["summarise"],
      wall_clock_ms: 30_000,
    });
    const { assigned_to } = await getTaskAt(t, task.path);
    const next = assigned_to === worker.agentId ? rival : worker;
    const idle = devices.get(assigned_to);
    await idle?.next("task_assigned");
    idle?.send({ type: "claim", task_id: task.task_id });
    await idle?.next("claimed");
    await t.advance(36_000);
    expect(await devices.get(next.agentId)?.next("task_assigned")).toMatchObject({
      task: { task_id: task.task_id, assigned_to: next.agentId },
    });
    const receipt = createReceipt(next, task);
    expect((await t.as(next, "POST", `${task.path}/result`, receipt)).status).toBe(200);
    expect([await t.getBalance(next), await failuresFor()]).toEqual([1.9, 1]);
  });

  test("B2: an idle claim until the task expires leaves an expired task, a failure and a signed no-show", async () => {
    const { task } = await claimant();
    const claimed_at = t.clock.now();
    await t.advance(TTL_MS);
    await t.advance(2_000);
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
      lapsed_at: task.submitted_at + TTL_MS,
      wall_clock_ms: null,
      priced: true,
      issuer: t.did,
    });
    expect(await recordsOf(task, worker)).toEqual([record]);
    const stranger = await t.createAgent();
    expect(await t.as(stranger, "GET", `${task.path}/evidence`)).toMatchObject({ status: 403 });
    expect(await t.getBalance(boss)).toBe(10);
    await expectConsistentBooks(t, { holds: 0 });
  });

  test("B12: a worker whose last sign of work was just before the expiry is not blamed, and no no-show is stored", async () => {
    const { device, task } = await claimant();
    await t.advance(TTL_MS - 20_000);
    device.send({ type: "progress", task_id: task.task_id });
    await t.advance(22_000);
    expect((await t.as(boss, "GET", task.path)).status).toBe(404);
    expect([await failuresFor(), await expired()]).toEqual([0, []]);
    expect((await t.as(boss, "GET", `${task.path}/evidence`)).status).toBe(404);
  });

  test("B2: a no-show counts once for a task, however often it is claimed again", async () => {
    const { device, task } = await claimant({ wall_clock_ms: 1 });
    for (let i = 0; i < 5; i += 1) {
      let isOffered = false;
      const offered = device.next("task_assigned").then(() => {
        isOffered = true;
      });
      await waitUntil(async () => {
        await t.advance(1_000);
        return isOffered;
      }, "the task is offered again");
      await offered;
      device.send({ type: "claim", task_id: task.task_id });
      await device.next("claimed");
    }
    await t.advance(TTL_MS);
    await t.advance(2_000);
    expect(await failuresFor()).toBe(1);
    expect(await expired()).toHaveLength(1);
  });

  test("B2: a no-show because of an expired lease counts as a failure for the customer too", async () => {
    const { device, task } = await claimant();
    device.socket.terminate();
    await device.closed;
    await settleEventLoop();
    await t.advance(60_000);
    await t.advance(6_000);
    expect((await getTaskAt(t, task.path)).status).toBe("pending");
    expect(await failuresFor()).toBe(1);
    expect(await expired()).toEqual([]);
    await t.advance(TTL_MS);
    await t.advance(2_000);
    expect(await expired()).toMatchObject([{ task_id: task.task_id }]);
  });
});

test("B2: an endpoint that does not answer within the wall clock is a no-show", async () => {
  const endpoint = await startMcpEndpoint(() => new Promise<CallToolResult>(() => {}));
  await registerEndpoint(t, worker, endpoint.url);
  const task = await submitAcceptedTask(t, boss, worker, { wall_clock_ms: 30_000 });
  await expect.poll(() => endpoint.calls).toHaveLength(1);
  await t.clock.advance(30_000);
  await expect.poll(() => failuresFor()).toBe(1);
  await t.as(boss, "POST", `${task.path}/cancel`);
  await endpoint.close();
});

describe("B2: ends of a claim that are not a no-show", () => {
  test.each(["release", "refuse"] as const)(
    "B2: a holder's message %s is not a no-show",
    async (type) => {
      const { device, task } = await claimant();
      await t.advance(30_000);
      device.send({ type, task_id: task.task_id });
      await settleEventLoop();
      await t.advance(TTL_MS);
      await t.advance(2_000);
      expect([await failuresFor(), await expired()]).toEqual([0, []]);
    },
  );

  test.each<[string, string, number, string[]]>([
    ["was requested less than 60 s before is not a no-show", "POST", 0, []],
    ["was not requested is a no-show", "GET", 1, ["expired"]],
  ])("B2: the expiry of a claimed task whose cancel %s", async (_, method, failures, statuses) => {
    const { task } = await claimant();
    await t.advance(TTL_MS - 30_000);
    await t.as(boss, method, `${task.path}/cancel`);
    await t.advance(32_000);
    expect((await t.as(boss, "GET", task.path)).status).toBe(404);
    const listed = (await expired()).map(({ status }) => status);
    expect([await failuresFor(), listed]).toEqual([failures, statuses]);
  });

  test("B2: the expiry of a task that was never claimed is not a no-show", async () => {
    const task = await submitAcceptedTask(t, boss, worker);
    await t.advance(TTL_MS);
    await t.advance(2_000);
    expect([await failuresFor(), await expired()]).toEqual([0, []]);
    expect((await t.as(boss, "GET", `${task.path}/evidence`)).status).toBe(404);
  });

  test("B2: an endpoint call that is still open when the task expires is not a no-show", async () => {
    const endpoint = await startMcpEndpoint(() => new Promise<CallToolResult>(() => {}));
    await registerEndpoint(t, worker, endpoint.url);
    await submitAcceptedTask(t, boss, worker);
    await expect.poll(() => endpoint.calls).toHaveLength(1);
    await t.advance(TTL_MS);
    await t.advance(2_000);
    await expect.poll(() => t.listLogged("mcp.forward_failed").length).toBeGreaterThan(0);
    expect(await failuresFor()).toBe(0);
    await endpoint.close();
  });

  test("B2: a claim from before a freeze that ends within 2 minutes after it is not a no-show", async () => {
    const { device } = await claimant();
    device.socket.terminate();
    await device.closed;
    await t.asOperator("POST", "/api/v1/admin/freeze", { reason: "test" });
    await t.advance(600_000);
    expect((await t.asOperator("POST", "/api/v1/admin/unfreeze")).status).toBe(200);
    await t.advance(70_000);
    expect(await failuresFor()).toBe(0);
  });

  test.each([
    ["within", 45_000, 0],
    ["more than", 75_000, 1],
  ])(
    "B2: a claim from before a freeze that ends %s 2 minutes after it (last sign at %i ms) counts %i times",
    async (_, lastSignMs, counted) => {
      const task = await submitAcceptedTask(t, boss, worker);
      await t.as(worker, "POST", `${task.path}/claim`);
      await t.asOperator("POST", "/api/v1/admin/freeze", { reason: "test" });
      await t.advance(1_000);
      expect((await t.asOperator("POST", "/api/v1/admin/unfreeze")).status).toBe(200);
      for (const at of [30_000, lastSignMs - 30_000]) {
        await t.advance(at);
        expect((await t.as(worker, "POST", `${task.path}/progress`, {})).status).toBe(200);
      }
      await t.advance(66_000);
      expect((await getTaskAt(t, task.path)).status).toBe("pending");
      expect(await failuresFor()).toBe(counted);
    },
  );

  test("B2: a claim from before a restart that ends within 2 minutes after it is not a no-show", async () => {
    const clock = createManualClock();
    const env = { AGENT_DB_PATH: join(folder, "relay.db") };
    const before = await startTestRelay(env, 1, clock);
    const [payer, seller_] = [await createBuyer(before, 10), await createSeller(before, 2)];
    await clock.advance(1_000);
    const [early, late] = [
      await submitAcceptedTask(before, payer, seller_),
      await submitAcceptedTask(before, payer, seller_),
    ];
    for (const { path } of [early, late]) await before.as(seller_, "POST", `${path}/claim`);
    await before.close();
    await clock.advance(61_000);
    const after = await startTestRelay(env, 2, clock);
    // One device reconnects for its task in time, and stays idle only after that.
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

test("B2: a call that was lost in a crash of the relay is not a no-show of its endpoint", async () => {
  const clock = createManualClock();
  const [path, copy] = [join(folder, "lost-call.db"), join(folder, "after-crash.db")];
  const before = await startTestRelay({ AGENT_DB_PATH: path }, 1, clock);
  const [payer, executor] = [await createBuyer(before, 10), await createSeller(before, 2)];
  const endpoint = await startMcpEndpoint(() => new Promise<CallToolResult>(() => {}));
  await registerEndpoint(before, executor, endpoint.url);
  const task = await submitAcceptedTask(before, payer, executor);
  await expect.poll(() => endpoint.calls).toHaveLength(1);
  // A copy of the database while the call is open is what a crash would leave.
  await copyStored(path, copy);
  await before.close();
  await endpoint.close();
  const after = await startTestRelay({ AGENT_DB_PATH: copy }, 2, clock);
  expect((await getTaskAt(after, task.path)).status).toBe("claimed");
  for (let seconds = 0; seconds < 380; seconds += 20) {
    await clock.advance(20_000);
    await after.relay.tick();
  }
  // The closed endpoint is called again, which claims the task until the call has failed.
  await expect.poll(async () => (await getTaskAt(after, task.path)).status).toBe("pending");
  expect(await failuresFor(payer, after)).toBe(0);
  await after.close();
});

describe("B2: no-shows in the view of strangers", () => {
  // The listing promises 1,000 ms.
  test.each([
    [
      "a priced no-show that had the time promised in the listing counts for strangers",
      2,
      1_000,
      1,
    ],
    ["a no-show that had less time counts for its customer only", 2, 999, 0],
    ["a free no-show counts for its customer only", 0, 1_000, 0],
    ["a no-show by a wall clock of 1 ms counts for its customer only", 2, 1, 0],
  ] as const)("B2: %s", async (_, price, wall_clock_ms, expected) => {
    const paid = await submitAcceptedTask(t, boss, worker);
    await t.as(worker, "POST", `${paid.path}/result`, createReceipt(worker, paid));
    expect(await countNoShow(price, wall_clock_ms)).toBe(expected);
  });

  test.each([
    [60_000, 1],
    [59_999, 0],
  ])(
    "B2: a priced no-show after %i ms by an executor that promises no latency counts %i times for strangers",
    async (wall_clock_ms, expected) => {
      const paid = await submitAcceptedTask(t, boss, worker);
      await t.as(worker, "POST", `${paid.path}/result`, createReceipt(worker, paid));
      const executor = await t.createAgent();
      const listing = {
        capabilities: ["summarise"],
        pricing: [{ capability: "summarise", unit_cost: 2 }],
      };
      const path = `/api/v1/agents/${executor.agentId}/listing`;
      expect((await t.as(executor, "POST", path, listing)).status).toBe(200);
      expect(await countNoShowOf(executor, wall_clock_ms)).toBe(expected);
    },
  );

  test("C7: a no-show of a payer that left no fees counts for its customer only", async () => {
    expect(await countNoShow(2, 1_000)).toBe(0);
  });

  async function countNoShow(price: number, wall_clock_ms: number): Promise<number> {
    return countNoShowOf(await createSeller(t, price), wall_clock_ms);
  }

  /** Returns the number of failures that strangers see after a no-show of another executor. */
  async function countNoShowOf(executor: TestAgent, wall_clock_ms: number): Promise<number> {
    const before = await countedByStrangers(executor);
    const task = await submitAcceptedTask(t, boss, executor, { wall_clock_ms });
    await t.as(executor, "POST", `${task.path}/claim`);
    await t.advance(Math.floor(wall_clock_ms / 1_000) * 1_000);
    // The jobs of each second need several turns, so the clock waits for them.
    for (let second = 1; second <= 8; second += 1) {
      await t.advance(1_000);
      await t.relay.tick();
    }
    expect(await failuresFor()).toBe(1);
    return (await countedByStrangers(executor)) - before;
  }
});
