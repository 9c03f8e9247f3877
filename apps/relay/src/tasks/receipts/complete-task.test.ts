import type { TrustRecord } from "@agent/wire";
import { createReceipt, type TestAgent } from "@agent/testkit";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  createBuyer,
  submitAcceptedTask,
  getAgentStates,
  createSeller,
  type Delegation,
} from "../../../test/market.ts";
import { startTestRelay, type TestRelay } from "../../../test/test-relay.ts";

let t: TestRelay;
let boss: TestAgent;
let worker: TestAgent;
beforeEach(async () => {
  t = await startTestRelay();
  boss = await createBuyer(t, 1_000);
  worker = await createSeller(t, 2);
});
afterEach(() => t.close());

type Change = Parameters<typeof createReceipt>[2];

async function work(change?: Change, latencyMs = 0): Promise<Delegation> {
  const task = await submitAcceptedTask(t, boss, worker);
  await t.clock.advance(latencyMs);
  await t.as(worker, "POST", `${task.path}/result`, createReceipt(worker, task, change));
  return task;
}

async function record(): Promise<TrustRecord | undefined> {
  const [holdings] = await getAgentStates(t, [boss]);
  expect(holdings?.trust.length).toBeLessThanOrEqual(1);
  return holdings?.trust[0];
}

describe("trust records", () => {
  test("a delegator's trust record of its executor begins with the first task, at the time of the relay's clock", async () => {
    expect(await record()).toBeUndefined();
    const submitted = t.clock.now();
    // The receipt claims five milliseconds.
    await work({}, 250);
    expect(await record()).toEqual({
      agent_id: boss.agentId,
      remote_agent_id: worker.agentId,
      trust_level: "first_contact",
      first_seen_at: submitted + 250,
      last_seen_at: submitted + 250,
      interaction_count: 1,
      successful_tasks: 1,
      failed_tasks: 0,
      avg_latency_ms: 250,
      trust_score: 0.3,
    });
  });

  test.each<[outcome: "completed" | "failed" | "denied", counted: object]>([
    ["completed", { interaction_count: 1, successful_tasks: 1, failed_tasks: 0 }],
    ["failed", { interaction_count: 1, successful_tasks: 0, failed_tasks: 1 }],
    ["denied", { interaction_count: 1, successful_tasks: 0, failed_tasks: 0 }],
  ])("a delegator's trust record counts a %s task", async (status, counted) => {
    await work({ status });
    expect(await record()).toMatchObject(counted);
  });

  test("a trust record belongs to the delegator: the executor and strangers gain none", async () => {
    await work();
    const others = await getAgentStates(t, [worker, await t.createAgent()]);
    expect(others.map(({ trust }) => trust)).toEqual([[], []]);
  });

  test("a trust record is not changed by a task that expires or is cancelled", async () => {
    const { path } = await submitAcceptedTask(t, boss, worker);
    await t.as(boss, "POST", `${path}/cancel`);
    await submitAcceptedTask(t, boss, worker);
    await t.clock.advance(900_000);
    await t.relay.tick();
    expect(await record()).toBeUndefined();
  });

  test("a trust record counts free tasks too", async () => {
    worker = await createSeller(t, 0);
    await work();
    expect(await record()).toMatchObject({ successful_tasks: 1, trust_level: "first_contact" });
  });
});

describe("receipts with bad signatures", () => {
  async function badly(by: TestAgent, task: Delegation): Promise<void> {
    const forged = { ...createReceipt(worker, task), memories_formed: 9 };
    const answer = await t.as(by, "POST", `${task.path}/result`, forged);
    expect(answer).toMatchObject({ status: 403, body: { code: "receipt.signature_invalid" } });
  }

  test("a receipt with a bad signature that the executor itself posts counts as one failure for each task", async () => {
    const task = await submitAcceptedTask(t, boss, worker);
    const before = await getAgentStates(t, [worker]);
    await Promise.all([badly(worker, task), badly(worker, task), badly(worker, task)]);
    await badly(worker, task);
    expect(await record()).toMatchObject({ interaction_count: 1, failed_tasks: 1 });
    expect(await getAgentStates(t, [worker])).toEqual(before);
    await badly(worker, await submitAcceptedTask(t, boss, worker));
    expect(await record()).toMatchObject({ interaction_count: 2, failed_tasks: 2 });
  });

  test("a receipt with a bad signature leaves the task open, and a correct one is accepted and counted", async () => {
    const task = await submitAcceptedTask(t, boss, worker);
    await badly(worker, task);
    await t.as(worker, "POST", `${task.path}/result`, createReceipt(worker, task));
    expect(await record()).toMatchObject({ successful_tasks: 1, failed_tasks: 1 });
    expect(await t.getBalance(worker)).toBe(1.9);
  });

  test("a bad signature counts for nothing when the operator or a target that is not the executor posts it", async () => {
    const target = await t.createAgent();
    const executor = await createSeller(t, { count: 2 });
    const task = await submitAcceptedTask(t, boss, target, { required_capabilities: ["count"] });
    const forged = { ...createReceipt(executor, task), memories_formed: 9 };
    const path = `${task.path}/result`;
    expect((await t.asOperator("POST", path, forged)).status).toBe(403);
    expect((await t.as(target, "POST", path, forged)).status).toBe(403);
    expect(await record()).toBeUndefined();
  });

  test.each<[string, Change]>([
    ["an impossible span", { completed_at: 0 }],
    ["another task", { relay_task_id: "another" }],
    ["a tool out of scope", { tools_used: ["rm"], delegated_scope: "ls" }],
  ])(
    "a bad signature is the only refusal that counts: a receipt with %s does not",
    async (_, change) => {
      const task = await submitAcceptedTask(t, boss, worker);
      const refused = await t.as(
        worker,
        "POST",
        `${task.path}/result`,
        createReceipt(worker, task, change),
      );
      expect(refused.status).toBeGreaterThanOrEqual(400);
      expect(await record()).toBeUndefined();
    },
  );
});

describe("the level of trust", () => {
  const after = async (outcomes: string) => {
    for (const outcome of outcomes) {
      await work({ status: outcome === "+" ? "completed" : outcome === "-" ? "failed" : "denied" });
    }
    return (await record())?.trust_level;
  };

  test.each([
    ["+", "first_contact"],
    ["-", "first_contact"],
    ["0", "unknown"],
    ["++++", "first_contact"],
    ["+++++", "verified"],
    ["++++-", "first_contact"],
    ["+++++-", "verified"],
    ["--+++++", "first_contact"],
    ["+".repeat(19), "verified"],
    ["+".repeat(20), "trusted"],
    [`--${"+".repeat(18)}`, "verified"],
    [`--${"+".repeat(20)}`, "trusted"],
    ["---", "unknown"],
    ["+---", "unknown"],
  ])("the outcomes %s lead to the level %s", async (outcomes, level) => {
    expect(await after(outcomes)).toBe(level);
  });

  test("the level of trust falls by at most one level for each task, and can rise again", async () => {
    expect(await after(`${"+".repeat(5)}`)).toBe("verified");
    expect(await after("------")).toBe("first_contact");
    expect(await after("-")).toBe("unknown");
    expect(await after("+")).toBe("first_contact");
  });
});
