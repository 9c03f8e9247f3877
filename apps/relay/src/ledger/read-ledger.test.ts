import { verifyLedger, type Ledger } from "@agent/ledger";
import { hashReceipt } from "@agent/receipts";
import { createReceipt, type TestAgent } from "@agent/testkit";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  createLedger,
  ledgerPath,
  ledgersPath,
  manifestPath,
  storeLedger,
} from "../../test/agents/ledgers.ts";
import {
  createBuyer,
  submitAcceptedTask,
  createSeller,
  type Delegation,
} from "../../test/market.ts";
import { startTestRelay, type TestRelay } from "../../test/test-relay.ts";

let t: TestRelay;
let boss: TestAgent;
let worker: TestAgent;
let task: Delegation;
beforeEach(async () => {
  t = await startTestRelay({ AGENT_RETENTION_DAYS: "1" });
  boss = await createBuyer(t, 10);
  worker = await createSeller(t, 2);
  task = await submitAcceptedTask(t, boss, worker);
});
afterEach(() => t.close());

const paths = { ledger: ledgerPath, manifest: manifestPath } as const;
const operations = Object.entries(paths);
const read = async (path = ledgerPath, of = worker) =>
  (await t.asOperator("GET", path(of, task.task_id))).body as unknown as Ledger;
const deliver = (change: Parameters<typeof createReceipt>[2] = {}) =>
  t.as(worker, "POST", `${task.path}/result`, createReceipt(worker, task, change));

describe.each(operations)("the %s of a goal", (_, path) => {
  const who: readonly [string, () => Promise<TestAgent>, status: number][] = [
    ["to the agent", async () => worker, 200],
    ["to the submitter of the task whose id is the goal's", async () => boss, 200],
    ["to no other agent", () => t.createAgent(), 403],
  ];

  test.each(who)("a ledger of a goal is shown %s", async (__, asking, status) => {
    const by = await asking();
    expect(await t.as(by, "GET", path(worker, task.task_id))).toMatchObject({ status });
    await storeLedger(t, worker, createLedger(worker, task.task_id));
    expect(await t.as(by, "GET", path(worker, task.task_id))).toMatchObject({ status });
  });

  test("a ledger of a goal is shown to the operator, and is refused without a token", async () => {
    const at = path(worker, task.task_id);
    expect(await t.asOperator("GET", at)).toMatchObject({ status: 200 });
    expect(await t.request("GET", at)).toMatchObject({ status: 401 });
  });

  test("the ledger of an agent's own task is shown only to its submitter", async () => {
    const other = await t.createAgent();
    await storeLedger(t, other, createLedger(other, task.task_id));
    expect(await t.as(boss, "GET", path(other, task.task_id))).toMatchObject({ status: 403 });
  });

  test("a goal that the relay has no record of is answered with 404", async () => {
    for (const of of [boss, t.createUnknownAgent()]) {
      expect(await t.asOperator("GET", path(of, task.task_id))).toMatchObject({
        status: 404,
        body: { code: "ledger.not_found" },
      });
    }
    expect(await t.as(worker, "GET", path(worker, "unknown"))).toMatchObject({ status: 404 });
  });
});

test("a signed ledger is shown unchanged, and the manifest is still that of the relay", async () => {
  const raw = `${JSON.stringify(createLedger(worker, task.task_id), null, 1)}\n`;
  await t.request("POST", ledgersPath(worker), { token: await t.token(worker), raw });
  const headers = { authorization: `Bearer ${await t.token(worker)}` };
  const url = `http://relay.test${ledgerPath(worker, task.task_id)}`;
  const answer = await t.relay.fetch(new Request(url, { headers }));
  expect(await answer.text()).toBe(raw);
  expect(answer.headers.get("content-type")).toBe("application/json");
  expect(await read(manifestPath)).not.toHaveProperty("signature");
});

describe.each(operations)("the %s without a signed ledger", (_, path) => {
  test("an unsigned ledger verifies as such and contains no contradiction", async () => {
    for (const isDelivered of [false, true]) {
      if (isDelivered) await deliver();
      const ledger = await read(path);
      expect(ledger).not.toHaveProperty("signature");
      const { valid, checks } = verifyLedger(ledger, { agentId: worker.agentId });
      expect(valid).toBe(true);
      expect(checks.flatMap(({ code }) => code ?? [])).toEqual(["ledger.unsigned"]);
    }
  });

  test("an unsigned ledger shows an open task as a goal that has been active since its submission", async () => {
    expect(await read(path)).toMatchObject({
      agent_id: worker.agentId,
      goal_id: task.task_id,
      started_at: task.submitted_at,
      completed_at: null,
      status: "active",
      timeline: [{ type: "goal_started", payload: { goal_id: task.task_id } }],
    });
  });

  test.each([
    ["completed", "completed"],
    ["failed", "failed"],
    ["denied", "failed"],
  ] as const)("an unsigned ledger shows a %s task as a %s goal", async (status, expected) => {
    await t.clock.advance(2_000);
    await deliver({ status });
    expect(await read(path)).toMatchObject({
      started_at: task.submitted_at,
      completed_at: t.clock.now(),
      status: expected,
    });
  });

  test("an unsigned ledger shows a cancelled task as a failed goal", async () => {
    await t.as(boss, "POST", `${task.path}/cancel`);
    expect(await read(path)).toMatchObject({ status: "failed", completed_at: t.clock.now() });
  });

  test("an unsigned ledger does not show an expired task as a goal", async () => {
    await t.clock.advance(900_000);
    expect(await t.asOperator("GET", path(worker, task.task_id))).toMatchObject({ status: 404 });
  });

  test("an unsigned ledger shows the tasks that the agent delegated as steps, with their receipts", async () => {
    const helper = await t.createAgent();
    const part = await submitAcceptedTask(t, worker, helper, { step_id: "step-7" });
    const foreign = await submitAcceptedTask(t, boss, helper);
    const [inner, strange] = [createReceipt(helper, part), createReceipt(helper, foreign)];
    await t.as(helper, "POST", `${part.path}/result`, inner);
    await deliver({ delegation_receipts: [inner, strange] });
    const ledger = await read(path);
    expect(ledger.steps).toMatchObject([
      { step_id: "step-7", delegation: { receipt_hash: hashReceipt(inner) } },
    ]);
    expect(ledger.delegation_receipts).toEqual([
      {
        task_id: part.task_id,
        agent_id: helper.agentId,
        device_id: helper.deviceId,
        status: "completed",
        tools_used: [],
        signature_prefix: inner.signature.slice(0, 16),
      },
    ]);
    expect(ledger.timeline).toContainEqual({
      timestamp: part.submitted_at,
      type: "step_delegated",
      payload: expect.objectContaining({ task_id: part.task_id }) as unknown,
    });
  });

  test("an unsigned ledger keeps the receipt of a purged task", async () => {
    await deliver();
    await t.clock.advance(2 * 86_400_000);
    await t.relay.tick();
    expect((await t.asOperator("GET", task.path)).status).toBe(404);
    expect(await read(path)).toMatchObject({
      started_at: task.submitted_at,
      status: "completed",
    });
  });

  test("an unsigned ledger reveals neither prompt nor result", async () => {
    await deliver({ result: "a secret result" });
    const text = JSON.stringify(await read(path));
    expect(text).not.toContain("a secret result");
    expect(text).not.toContain(task.prompt);
  });
});
