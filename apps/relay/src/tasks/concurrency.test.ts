import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createReceipt } from "@agent/testkit";
import { afterAll, afterEach, describe, expect, test } from "vitest";
import {
  createBuyer,
  submitAcceptedTask,
  expectConsistentBooks,
  getAgentStates,
  createSeller,
  countStatuses,
  getTaskAt,
} from "../../test/market.ts";
import { startTestRelay, type TestRelay } from "../../test/test-relay.ts";

let t: TestRelay;
const folder = mkdtempSync(join(tmpdir(), "relay-concurrency-"));
let files = 0;
afterEach(() => t.close());
afterAll(() => rmSync(folder, { recursive: true }));

const databases: [name: string, env: () => Record<string, string>][] = [
  ["in memory", () => ({})],
  ["in a file", () => ({ AGENT_DB_PATH: join(folder, `${(files += 1)}.db`) })],
];

const times = <T>(count: number, each: (i: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => each(i));

describe.each(databases)("concurrent requests, %s", (_, env) => {
  test("RC2 100 posts of one receipt settle once", async () => {
    t = await startTestRelay(env());
    const [boss, worker] = [await createBuyer(t, 10), await createSeller(t, 2)];
    const task = await submitAcceptedTask(t, boss, worker);
    const request = { token: await t.token(worker), body: createReceipt(worker, task) };
    const path = `${task.path}/result`;
    const answers = await Promise.all(times(100, () => t.request("POST", path, request)));
    expect(countStatuses(answers)).toEqual({ 200: 100 });
    expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(1);
    const [payer, payee] = await getAgentStates(t, [boss, worker]);
    expect([payer?.balance, payee?.balance]).toEqual([8, 1.9]);
    expect(payee?.transactions.map(({ type }) => type)).toEqual(["settlement_credit"]);
    expect(payee?.settlements).toHaveLength(1);
    expect(payer?.trust).toMatchObject([{ interaction_count: 1, successful_tasks: 1 }]);
    await expectConsistentBooks(t, { holds: 0, fees: 0.1 });
  });

  test("RC3 exactly one of a completed and a failed receipt takes effect, and it does so entirely", async () => {
    t = await startTestRelay(env());
    const [boss, worker] = [await createBuyer(t, 100), await createSeller(t, 2)];
    let paid = 0;
    for (let round = 0; round < 10; round += 1) {
      const task = await submitAcceptedTask(t, boss, worker);
      const token = await t.token(worker);
      const outcomes = ["completed", "failed"] as const;
      const order = round % 2 === 0 ? outcomes : outcomes.toReversed();
      const answers = await Promise.all(
        order.map((status) => {
          const body = createReceipt(worker, task, { status });
          return t.request("POST", `${task.path}/result`, { token, body });
        }),
      );
      expect(countStatuses(answers)).toEqual({ 200: 1, 409: 1 });
      const { status } = await getTaskAt(t, task.path);
      expect(answers.find((answer) => answer.status === 200)?.body).toEqual({ status });
      if (status === "completed") paid += 1;
      const [payer, payee] = await getAgentStates(t, [boss, worker]);
      expect(payee?.balance).toBeCloseTo(1.9 * paid, 6);
      expect(payer?.balance).toBe(100 - 2 * paid);
      expect(payer?.trust).toMatchObject([
        { successful_tasks: paid, failed_tasks: round + 1 - paid },
      ]);
      await expectConsistentBooks(t, { holds: 0 });
    }
  });

  test("MN6 exactly 50 of 500 submissions at price 1 are accepted for a balance of 60, and 450 get 402", async () => {
    t = await startTestRelay(env());
    const [boss, worker] = [await createBuyer(t, 60), await createSeller(t, 1)];
    const request = { token: await t.token(boss), body: { prompt: "work" } };
    const path = `/agent/${worker.agentId}/task`;
    const answers = await Promise.all(times(500, () => t.request("POST", path, request)));
    expect(countStatuses(answers)).toEqual({ 201: 50, 402: 450 });
    const list = await t.as(boss, "GET", `/agent/${boss.agentId}/tasks?submitted_by=me&limit=200`);
    expect(list.body["tasks"]).toHaveLength(50);
    const [payer] = await getAgentStates(t, [boss]);
    expect([payer?.balance, payer?.pending_allocations]).toEqual([0, 60]);
    await expectConsistentBooks(t, { deposits: 60, balances: 0, holds: 60 });
  });

  test("exactly one of a receipt and a concurrent cancellation takes effect, and it does so entirely", async () => {
    t = await startTestRelay(env());
    const [boss, worker] = [await createBuyer(t, 100), await createSeller(t, 2)];
    const [bossToken, workerToken] = [await t.token(boss), await t.token(worker)];
    let paid = 0;
    for (let round = 0; round < 10; round += 1) {
      const task = await submitAcceptedTask(t, boss, worker);
      const post = () =>
        t.request("POST", `${task.path}/result`, {
          token: workerToken,
          body: createReceipt(worker, task),
        });
      const cancel = () => t.request("POST", `${task.path}/cancel`, { token: bossToken });
      const both = round % 2 === 0 ? [post(), cancel()] : [cancel(), post()];
      expect(countStatuses(await Promise.all(both))).toEqual({ 200: 1, 409: 1 });
      if ((await getTaskAt(t, task.path)).status === "completed") paid += 1;
      expect(await t.getBalance(boss)).toBe(100 - 2 * paid);
      await expectConsistentBooks(t, { holds: 0 });
    }
  });

  test("deliveries of many tasks settle each of them", async () => {
    t = await startTestRelay(env());
    const [boss, worker] = [await createBuyer(t, 600), await createSeller(t, 2)];
    const tasks = await Promise.all(times(200, () => submitAcceptedTask(t, boss, worker)));
    const token = await t.token(worker);
    const answers = await Promise.all(
      tasks.map((task) =>
        t.request("POST", `${task.path}/result`, { token, body: createReceipt(worker, task) }),
      ),
    );
    expect(countStatuses(answers)).toEqual({ 200: 200 });
    expect([await t.getBalance(boss), await t.getBalance(worker)]).toEqual([200, 380]);
    await expectConsistentBooks(t, { holds: 0, fees: 20 });
  });

  test("submissions beyond the 1,000th are undone, and accepted ones in the same batch count once", async () => {
    t = await startTestRelay(env());
    const [boss, worker] = [await createBuyer(t, 600), await createSeller(t, { paid: 1, free: 0 })];
    const token = await t.token(boss);
    const path = `/agent/${worker.agentId}/task`;
    const submitAll = (count: number, capability: string) => {
      const body = { prompt: "work", required_capabilities: [capability] };
      return Promise.all(times(count, () => t.request("POST", path, { token, body })));
    };
    expect(countStatuses(await submitAll(900, "free"))).toEqual({ 201: 900 });
    // The last 50 are refused after their hold was written, so the whole batch runs again.
    const answers = await submitAll(150, "paid");
    expect(countStatuses(answers)).toEqual({ 201: 100, 429: 50 });
    const taken = answers.filter(({ status }) => status === 201);
    expect(new Set(taken.map(({ body }) => body["task_id"])).size).toBe(100);
    const [payer] = await getAgentStates(t, [boss]);
    expect([payer?.balance, payer?.pending_allocations]).toEqual([480, 120]);
    await expectConsistentBooks(t, { deposits: 600, balances: 480, holds: 120 });
    const debits = t.listLogged("account.debit").map(({ ok }) => ok);
    expect([debits.length, debits.filter(Boolean).length]).toEqual([150, 100]);
  });
});
