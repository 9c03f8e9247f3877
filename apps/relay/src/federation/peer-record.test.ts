import type { TestAgent } from "@agent/testkit";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { putListing } from "../../test/market.ts";
import {
  advanceUntil,
  closeSites,
  startTwoSites,
  waitForTask,
  type TwoSites,
} from "../../test/network/network.ts";
import { createReceipt } from "../../test/test-relay.ts";

let s: TwoSites;
beforeEach(async () => {
  s = await startTwoSites();
});
afterEach(() => closeSites([s.a, s.b], s.proxies));

/** Submits a task of a payer at the first relay to the worker at the second, which ends the task. */
async function order(payer: TestAgent, status: "completed" | "failed"): Promise<void> {
  const { a, b, worker, clock } = s;
  const path = `/agent/${worker.agentId}/task`;
  const { body } = await a.as(payer, "POST", path, { prompt: "work" });
  const task = await waitForTask(b, worker, String(body["task_id"]));
  const receipt = createReceipt(worker, task, { status });
  const own = `${path}/${task.task_id}`;
  expect(await b.as(worker, "POST", `${own}/result`, receipt)).toMatchObject({ status: 200 });
  const isEnded = async () => {
    const { body: seen } = await a.as(payer, "GET", own);
    return (seen["task"] as { status?: string } | undefined)?.status === status;
  };
  await advanceUntil(clock, [a, b], { stepMs: 1_000, what: "the end is known" }, isEnded);
  // A settlement that is confirmed counts as a success.
  await advanceUntil(clock, [a, b], { stepMs: 1_000, what: "it is settled" }, async () => {
    const { body: list } = await a.asOperator("GET", "/api/v1/admin/federation/peers");
    return (list["peers"] as { reserved?: number }[])[0]?.reserved === 0;
  });
}

async function createPayer(amount: number): Promise<TestAgent> {
  const payer = await s.a.createAgent();
  await s.a.deposit(payer, amount);
  return payer;
}

/** Submits a task to the worker at the second relay, which never begins it, and waits for its expiry. */
async function orderInVain(payer: TestAgent): Promise<void> {
  const { a, b, worker, clock } = s;
  const path = `/agent/${worker.agentId}/task`;
  const { status, body } = await a.as(payer, "POST", path, { prompt: "work" });
  expect(status).toBe(201);
  const own = `${path}/${String(body["task_id"])}`;
  await advanceUntil(clock, [a, b], { stepMs: 30_000, what: "it expires" }, async () => {
    return (await a.as(payer, "GET", own)).status === 404;
  });
}

/** Counts the successes and failures of the second relay at the first. */
async function countOutcomes(): Promise<readonly [successes: number, failures: number]> {
  const { a, b } = s;
  const { body } = await a.asOperator("GET", `/api/v1/agents/${a.relayId}/trust/${b.relayId}`);
  return [Number(body["successful_tasks"] ?? 0), Number(body["failed_tasks"] ?? 0)];
}

describe("C7: records of peers", () => {
  test("the record of a peer does not improve by tasks that leave almost no fees", async () => {
    await putListing(s.b, s.worker, 0.000001);
    const poor = await createPayer(0.001);
    for (let task = 0; task < 3; task += 1) await order(poor, "completed");
    expect(await countOutcomes()).toEqual([0, 0]);
  });

  test("the record of a peer is not harmed by failed tasks of a payer that left no fees, whatever their price", async () => {
    const rich = await createPayer(100);
    for (let task = 0; task < 3; task += 1) await order(rich, "failed");
    expect(await countOutcomes()).toEqual([0, 0]);
  });

  test("the record of a peer counts successes and failures of a payer that has left the fees", async () => {
    await putListing(s.b, s.worker, 2);
    const payer = await createPayer(100);
    await order(payer, "completed");
    await order(payer, "failed");
    expect(await countOutcomes()).toEqual([1, 1]);
  });

  test("A31: two new identities do not ruin the record of a peer with tasks that one of them never begins", async () => {
    const { a, clock } = s;
    const payer = await createPayer(10);
    // The relay counts no expiry shortly after its start.
    await clock.advance(600_000);
    for (let task = 0; task < 3; task += 1) await orderInVain(payer);
    expect(await a.getBalance(payer)).toBe(10);
    expect(await countOutcomes()).toEqual([0, 0]);
  });

  test("A31: tasks that a peer lets expire count within the fees of their payer", async () => {
    await putListing(s.b, s.worker, 1);
    const payer = await createPayer(10);
    await order(payer, "completed");
    await s.clock.advance(600_000);
    for (let task = 0; task < 2; task += 1) await orderInVain(payer);
    expect(await countOutcomes()).toEqual([1, 1]);
  });
});
