import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createReceipt, type TestAgent } from "@agent/testkit";
import {
  createBuyer,
  submitAcceptedTask,
  expectConsistentBooks,
  getAgentStates,
  createSeller,
  countStatuses,
  getTaskAt,
  type Delegation,
} from "../../../test/market.ts";
import { startTestRelay, type TestRelay } from "../../../test/test-relay.ts";

let t: TestRelay;
let boss: TestAgent;
let worker: TestAgent;
let task: Delegation;
beforeEach(async () => {
  t = await startTestRelay();
  boss = await createBuyer(t, 10);
  worker = await createSeller(t, 2);
  task = await submitAcceptedTask(t, boss, worker);
});
afterEach(() => t.close());

const cancel = (by: TestAgent, path = task.path) => t.as(by, "POST", `${path}/cancel`);

describe("cancellations", () => {
  test("a cancellation returns the whole hold, once", async () => {
    expect(await t.getBalance(boss)).toBe(7.6);
    expect(await cancel(boss)).toMatchObject({
      status: 200,
      body: { task_id: task.task_id, status: "cancelled" },
    });
    expect(await cancel(boss)).toMatchObject({ status: 409, body: { code: "task.not_pending" } });
    expect(await t.getBalance(boss)).toBe(10);
    expect(await getTaskAt(t, task.path)).toMatchObject({ status: "cancelled" });
    const [held] = await getAgentStates(t, [boss]);
    expect(held?.transactions.slice(0, 2)).toMatchObject([
      { type: "allocation_release", amount: 2.4, balance_after: 10 },
      { type: "allocation_hold", amount: -2.4, balance_after: 7.6 },
    ]);
    await expectConsistentBooks(t, { holds: 0 });
  });

  test("a cancellation is allowed to the submitter and the operator", async () => {
    for (const other of [worker, await t.createAgent()]) {
      expect(await cancel(other)).toMatchObject({
        status: 403,
        body: { code: "task.not_submitter" },
      });
    }
    expect((await t.asOperator("POST", `${task.path}/cancel`)).status).toBe(200);
  });

  test("a finished task can no longer be cancelled, and a cancelled task accepts no receipt", async () => {
    const receipt = createReceipt(worker, task);
    await t.as(worker, "POST", `${task.path}/result`, receipt);
    expect((await cancel(boss)).status).toBe(409);

    const second = await submitAcceptedTask(t, boss, worker);
    await cancel(boss, second.path);
    const before = await getAgentStates(t, [boss, worker]);
    const late = await t.as(worker, "POST", `${second.path}/result`, createReceipt(worker, second));
    expect(late).toMatchObject({ status: 409, body: { code: "task.already_finished" } });
    expect(await getAgentStates(t, [boss, worker])).toEqual(before);
  });

  test("a cancellation of an unknown, foreign or expired task is answered with 404", async () => {
    expect((await cancel(boss, `/agent/${worker.agentId}/task/unknown`)).status).toBe(404);
    expect((await cancel(boss, `/agent/${boss.agentId}/task/${task.task_id}`)).status).toBe(404);
    await t.clock.advance(900_000);
    expect((await cancel(boss)).status).toBe(404);
  });

  test("a cancellation that is called many times at once returns the hold once", async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => cancel(boss)));
    expect(countStatuses(answers)).toEqual({ 200: 1, 409: 19 });
    expect(await t.getBalance(boss)).toBe(10);
    await expectConsistentBooks(t);
  });

  test("a cancellation can always return the hold, because held money counts against the balance limit", async () => {
    const billion = 1_000_000_000;
    const rich = await t.createAgent();
    for (let i = 0; i < 9; i += 1) await t.deposit(rich, billion);
    const dear = await submitAcceptedTask(t, rich, await createSeller(t, billion));
    expect(await t.getBalance(rich)).toBe(7.8 * billion);
    const path = `/api/v1/agents/${rich.agentId}/deposit`;
    expect(await t.asOperator("POST", path, { amount: 0.000001 })).toMatchObject({
      status: 400,
      body: { code: "money.balance_limit" },
    });
    expect((await cancel(rich, dear.path)).status).toBe(200);
    expect(await t.getBalance(rich)).toBe(9 * billion);
    await expectConsistentBooks(t);
  });
});
