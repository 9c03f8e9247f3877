import type { TestAgent } from "@agent/testkit";
import type { MarketCandidate, TrustRecord } from "@agent/wire";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { serveTestRelay, type ServedRelay } from "../../test/devices.ts";
import {
  createBuyer,
  submitAcceptedTask,
  createSeller,
  submitTask,
  getTaskAt,
} from "../../test/market.ts";
import { createReceipt, type Reply } from "../../test/test-relay.ts";

let t: ServedRelay;
let boss: TestAgent;
let worker: TestAgent;
beforeEach(async () => {
  t = await serveTestRelay();
  [boss, worker] = [await createBuyer(t, 100), await createSeller(t, 1)];
});
afterEach(() => t.close());

const set = (by: TestAgent, remote: { agentId: string }, trust_level: unknown): Promise<Reply> =>
  t.as(by, "PUT", `/api/v1/agents/${by.agentId}/trust/${remote.agentId}`, { trust_level });

async function block(by = boss, remote = worker): Promise<void> {
  expect(await set(by, remote, "blocked")).toMatchObject({ status: 200 });
}

async function work(by = boss, worked = worker): Promise<void> {
  const task = await submitAcceptedTask(t, by, worked);
  await t.as(worked, "POST", `${task.path}/result`, createReceipt(worked, task));
}

async function records(of = boss): Promise<TrustRecord[]> {
  const { body } = await t.as(of, "GET", `/api/v1/agents/${of.agentId}/trust`);
  return body["records"] as TrustRecord[];
}

describe("blocks", () => {
  test("a block creates the record of a stranger", async () => {
    const now = t.clock.now();
    const record = {
      agent_id: boss.agentId,
      remote_agent_id: worker.agentId,
      trust_level: "blocked",
      trust_score: 0,
      first_seen_at: now,
      last_seen_at: now,
      interaction_count: 0,
      successful_tasks: 0,
      failed_tasks: 0,
      avg_latency_ms: null,
    };
    expect((await set(boss, worker, "blocked")).body).toEqual(record);
    expect(await records()).toEqual([record]);
  });

  test("a block keeps the counters of the record, and applies only to the delegator that set it", async () => {
    for (let i = 0; i < 5; i += 1) await work();
    const other = await createBuyer(t, 10);
    await work(other);
    await block();
    expect(await records()).toMatchObject([
      { trust_level: "blocked", trust_score: 0, interaction_count: 5, successful_tasks: 5 },
    ]);
    expect(await records(other)).toMatchObject([{ trust_level: "first_contact" }]);
  });

  test("a block changes nothing when it is repeated", async () => {
    await block();
    const before = await records();
    await t.clock.advance(1_000);
    await block();
    expect(await records()).toEqual(before);
  });

  test.each(["unknown", "first_contact", "verified", "trusted"])(
    "a block is final, so a change to %s is answered with 409",
    async (level) => {
      await block();
      expect(await set(boss, worker, level)).toMatchObject({
        status: 409,
        body: { code: "trust.blocked" },
      });
      expect(await records()).toMatchObject([{ trust_level: "blocked" }]);
    },
  );

  test("a block is not lifted by an earlier task that is paid later", async () => {
    const task = await submitAcceptedTask(t, boss, worker);
    await t.as(worker, "POST", `${task.path}/claim`);
    await block();
    const receipt = createReceipt(worker, task);
    expect(await t.as(worker, "POST", `${task.path}/result`, receipt)).toMatchObject({
      status: 200,
    });
    expect(await t.getBalance(worker)).toBe(0.95);
    expect(await records()).toMatchObject([{ trust_level: "blocked", successful_tasks: 1 }]);
    expect(await score()).toBe(0);
  });
});

describe("a delegator's change of a trust level", () => {
  test.each(["unknown", "first_contact", "verified", "trusted"])(
    "a change of a trust level to %s, which must be earned, is answered with 400",
    async (level) => {
      expect(await set(boss, worker, level)).toMatchObject({
        status: 400,
        body: { code: "trust.level_earned" },
      });
      expect(await records()).toEqual([]);
    },
  );

  test.each([undefined, null, 0, "Blocked", "friend", ["blocked"]])(
    "a change of a trust level to %j, which is not a level, is answered with 400",
    async (level) => {
      expect(await set(boss, worker, level)).toMatchObject({
        status: 400,
        body: { code: "request.invalid" },
      });
    },
  );

  test.each(["x", "__proto__", "00000000-0000-0000-0000-000000000000", "a%20b"])(
    "a change of the trust level of the id %s is answered with 400",
    async (agentId) => {
      expect(await set(boss, { agentId }, "blocked")).toMatchObject({ status: 400 });
      expect(await records()).toEqual([]);
    },
  );

  test("a change of a trust level is refused for the agent itself, and in another agent's name", async () => {
    expect(await set(boss, boss, "blocked")).toMatchObject({ status: 400 });
    const path = `/api/v1/agents/${boss.agentId}/trust/${worker.agentId}`;
    const answer = await t.as(worker, "PUT", path, { trust_level: "blocked" });
    expect(answer).toMatchObject({ status: 403, body: { code: "auth.not_owner" } });
    expect(await records()).toEqual([]);
  });
});

/** Reads the worker's rank in the market for the boss. */
async function score(of = worker, by = boss): Promise<number | undefined> {
  const { body } = await t.as(by, "GET", "/api/v1/market/candidates?capability=summarise");
  const candidates = body["candidates"] as MarketCandidate[];
  return candidates.find(({ agent_id }) => agent_id === of.agentId)?.composite_score;
}

describe("CR10 blocked agents", () => {
  const summarise = { required_capabilities: ["summarise"] };

  test("a blocked agent scores 0 in the market, however others trust it", async () => {
    const friend = await createBuyer(t, 100);
    await work(boss, await createSeller(t, 1));
    for (let i = 0; i < 5; i += 1) await work(friend);
    expect(await score()).toBeGreaterThan(0);
    await block();
    expect(await score()).toBe(0);
  });

  test("a blocked agent passes no trust on to others", async () => {
    const other = await createSeller(t, 1);
    const reader = await t.createAgent();
    await t.deposit(worker, 10);
    for (let i = 0; i < 5; i += 1) {
      await work();
      await work(worker, other);
    }
    expect(await score(other)).toBeGreaterThan((await score(other, reader)) ?? 1);
    await block();
    expect(await score(other)).toBe(await score(other, reader));
  });

  test("a blocked agent is not chosen even if it is the cheapest, and is shown as blocked", async () => {
    const cheap = await createSeller(t, 0);
    await block(boss, cheap);
    const task = await submitAcceptedTask(t, boss, await t.createAgent(), summarise);
    expect(await getTaskAt(t, task.path)).toMatchObject({ assigned_to: worker.agentId });
    const { body } = await t.as(boss, "GET", `/api/v1/agents/${cheap.agentId}`);
    expect(body).toMatchObject({ trust_level: "blocked" });
  });

  test("a blocked agent receives no task of the delegator by socket or list", async () => {
    const device = await t.connectDevice(worker);
    const old = await submitAcceptedTask(t, boss, worker);
    expect((await device.next("task_assigned")).task.task_id).toBe(old.task_id);
    await block();
    expect(await device.next("task_cancelled")).toMatchObject({ task_id: old.task_id });
    const refused = { status: 403, body: { code: "task.target_blocked" } };
    expect(await submitTask(t, boss, worker)).toMatchObject(refused);
    expect(await submitTask(t, boss, worker, summarise)).toMatchObject(refused);
    const others = await submitAcceptedTask(t, await createBuyer(t, 10), worker);
    expect((await device.next("task_assigned")).task.task_id).toBe(others.task_id);
    expect(await device.takeRemaining()).toEqual([]);

    const { body } = await t.as(worker, "GET", `/agent/${worker.agentId}/tasks?status=pending`);
    expect(body["tasks"]).toMatchObject([{ task_id: others.task_id }]);
  });

  test("a blocked agent cannot claim a task that it was offered before", async () => {
    const device = await t.connectDevice(worker);
    const task = await submitAcceptedTask(t, boss, worker);
    await device.next("task_assigned");
    await block();
    await device.next("task_cancelled");
    device.send({ type: "claim", task_id: task.task_id });
    expect(await device.next("error")).toMatchObject({ code: "task.not_pending" });
    expect(await getTaskAt(t, task.path)).toMatchObject({ status: "cancelled" });
  });

  test("a blocked agent completes the task that it had claimed, and its submitter still sees all its own tasks", async () => {
    const device = await t.connectDevice(worker);
    const task = await submitAcceptedTask(t, boss, worker);
    await device.next("task_assigned");
    device.send({ type: "claim", task_id: task.task_id });
    await device.next("claimed");
    await block();
    const { body } = await t.as(worker, "GET", `/agent/${worker.agentId}/tasks`);
    expect(body["tasks"]).toMatchObject([{ task_id: task.task_id, status: "claimed" }]);
    const own = await t.as(boss, "GET", `/agent/${boss.agentId}/tasks?submitted_by=me`);
    expect(own.body["tasks"]).toMatchObject([{ task_id: task.task_id }]);
  });
});
