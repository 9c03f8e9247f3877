import type { TestAgent } from "@agent/testkit";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createBuyer, createSeller, submitAcceptedTask } from "../../test/market.ts";
import { createReceipt, startTestRelay, type TestRelay } from "../../test/test-relay.ts";

let t: TestRelay;
beforeEach(async () => {
  t = await startTestRelay();
});
afterEach(() => t.close());

async function work(by: TestAgent, worker: TestAgent, status: "completed" | "failed", times = 1) {
  for (let count = 0; count < times; count += 1) {
    const task = await submitAcceptedTask(t, by, worker);
    const receipt = createReceipt(worker, task, { status });
    expect((await t.as(worker, "POST", `${task.path}/result`, receipt)).status).toBe(200);
  }
}

/** Returns the success rate of an agent in a stranger's view of the market. */
async function getPublicRate(worker: TestAgent): Promise<number | undefined> {
  const { body } = await t.asOperator("GET", "/api/v1/market/candidates?capability=summarise");
  const listed = body["candidates"] as { agent_id: string; sub_scores: { success_rate: number } }[];
  return listed.find(({ agent_id }) => agent_id === worker.agentId)?.sub_scores.success_rate;
}

/** Creates an agent at a price of 1 with 10 successes for each of two payers. */
async function createPaidWorker(): Promise<TestAgent> {
  const worker = await createSeller(t, 1);
  for (let count = 0; count < 2; count += 1) {
    await work(await createBuyer(t, 20), worker, "completed", 10);
  }
  return worker;
}

test("A30: a payer that left the fee of one success makes one failure count, and loses nothing by more", async () => {
  const victim = await createPaidWorker();
  const [attacker, own] = [await createBuyer(t, 10), await createSeller(t, 1)];
  await work(attacker, own, "completed");
  await work(attacker, victim, "failed", 30);
  // It lost the price to its own agent, less the fee of 0.05, and nothing for the failures.
  expect(await t.getBalance(attacker)).toBe(9);
  expect(await getPublicRate(victim)).toBe(20 / 21);
  await work(attacker, own, "completed", 2);
  await work(attacker, victim, "failed", 3);
  expect(await getPublicRate(victim)).toBe(20 / 23);
});

test("the failures of a payer that also had as many successes all count", async () => {
  const worker = await createPaidWorker();
  const payer = await createBuyer(t, 20);
  await work(payer, worker, "completed", 5);
  await work(payer, worker, "failed", 5);
  expect(await getPublicRate(worker)).toBe(25 / 30);
});

test("failures beyond the fees of a payer still count for the payer itself", async () => {
  const worker = await createPaidWorker();
  const payer = await createBuyer(t, 20);
  await work(payer, worker, "failed", 3);
  const { body } = await t.as(payer, "GET", `/api/v1/agents/${payer.agentId}/trust`);
  expect(body["records"]).toMatchObject([{ failed_tasks: 3, trust_level: "unknown" }]);
  expect(await getPublicRate(worker)).toBe(1);
});
