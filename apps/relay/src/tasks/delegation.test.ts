import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createReceipt, type TaskInput } from "@agent/testkit";
import { startTestRelay, type TestRelay } from "../../test/test-relay.ts";

let t: TestRelay;
beforeEach(async () => {
  t = await startTestRelay();
});
afterEach(() => t.close());

describe("one paid delegation", () => {
  test("a paid delegation at price 2 holds 2.4 of 10, then leaves the delegator 8, the worker 1.9 and a fee of 0.1", async () => {
    const boss = await t.createAgent();
    const worker = await t.createWorker(2);
    await t.deposit(boss, 10);

    const submitted = await t.as(boss, "POST", `/agent/${worker.agentId}/task`, { prompt: "work" });
    expect(submitted).toMatchObject({
      status: 201,
      body: { status: "pending", routing_choice: null, estimated_cost: 2, amount_locked: 2.4 },
    });
    const path = `/agent/${worker.agentId}/task/${String(submitted.body["task_id"])}`;
    const held = await t.as(boss, "GET", `/api/v1/agents/${boss.agentId}/balance`);
    expect(held.body).toMatchObject({ balance: 7.6, pending_allocations: 2.4, currency: "USD" });

    // The task stays pending while the relay calls the worker's endpoint, which does not answer.
    await expect
      .poll(async () => (await t.as(boss, "GET", path)).body)
      .toMatchObject({ task: { prompt: "work", status: "pending" }, receipt: null });
    const open = await t.as(boss, "GET", path);
    const receipt = createReceipt(worker, open.body["task"] as TaskInput);
    expect(await t.as(worker, "POST", `${path}/result`, receipt)).toMatchObject({
      status: 200,
      body: { status: "completed" },
    });
    expect([await t.getBalance(boss), await t.getBalance(worker)]).toEqual([8, 1.9]);
    const done = await t.as(boss, "GET", path);
    expect(done.body).toMatchObject({ task: { status: "completed" }, receipt: { ...receipt } });

    const books = await t.asOperator("GET", "/api/v1/admin/reconciliation");
    expect(books.body).toMatchObject({
      consistent: true,
      totals: { deposits: 10, balances: 9.9, holds: 0, fees: 0.1 },
    });
  });

  test("a paid delegation is logged under the names of the specification", async () => {
    const boss = await t.createAgent();
    const worker = await t.createWorker(2);
    await t.deposit(boss, 3);
    const path = `/agent/${worker.agentId}/task`;
    const { body } = await t.as(boss, "POST", path, { prompt: "work" });
    const { task_id } = body as { task_id: string };
    await t.as(boss, "POST", path, { prompt: "more than there is money for" });
    const task = await t.as(boss, "GET", `${path}/${task_id}`);
    const receipt = createReceipt(worker, task.body["task"] as TaskInput);
    await t.as(worker, "POST", `${path}/${task_id}/result`, receipt);

    expect(t.listLogged("account.debit")).toMatchObject([
      { service: "relay", correlationId: task_id, agent_id: boss.agentId, price: 2, ok: true },
      { agent_id: boss.agentId, price: 2, ok: false },
    ]);
    expect(t.listLogged("receipt.verified")).toMatchObject([{ correlationId: task_id }]);
    expect(t.listLogged("settlement.created")).toMatchObject([
      { correlationId: task_id, net: 1.9, fee: 0.1 },
    ]);
  });
});
