import { createReceipt, type TestAgent } from "@agent/testkit";
import type { Settlement, TrustRecord } from "@agent/wire";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createLedger, storeLedger, type Outcome } from "../../test/agents/ledgers.ts";
import {
  createBuyer,
  submitAcceptedTask,
  expectConsistentBooks,
  createSeller,
  type Delegation,
} from "../../test/market.ts";
import { startTestRelay, type TestRelay } from "../../test/test-relay.ts";

let t: TestRelay;
let boss: TestAgent;
let worker: TestAgent;
let task: Delegation;
beforeEach(async () => {
  t = await startTestRelay({ AGENT_RELAY_ISSUE_CREDENTIALS: "true" });
  boss = await createBuyer(t, 10);
  worker = await createSeller(t, 2);
  task = await submitAcceptedTask(t, boss, worker);
});
afterEach(() => t.close());

const steps = (completed: number, failed: number): Outcome[] => [
  ...Array<Outcome>(completed).fill("completed"),
  ...Array<Outcome>(failed).fill("failed"),
];

/** Submits a ledger of the task, which must be accepted. */
async function account(outcomes: readonly Outcome[], by = worker) {
  const ledger = createLedger(by, task.task_id, outcomes);
  expect(await storeLedger(t, by, ledger)).toMatchObject({ status: 201 });
  return ledger;
}

async function deliver(change: Parameters<typeof createReceipt>[2] = {}): Promise<Settlement> {
  const receipt = createReceipt(worker, task, change);
  expect(await t.as(worker, "POST", `${task.path}/result`, receipt)).toMatchObject({ status: 200 });
  const path = `/api/v1/agents/${worker.agentId}/settlements`;
  const { settlements } = (await t.as(worker, "GET", path)).body as { settlements: Settlement[] };
  await expectConsistentBooks(t, { holds: 0 });
  return settlements[0]!;
}

const balances = async () => [await t.getBalance(boss), await t.getBalance(worker)];

describe("Payment of a completed receipt by its signed ledger", () => {
  test.each([
    // completed steps, failed steps, outcome, amount paid, balance of the boss, balance of the worker
    [2, 0, "completed", 2, 8, 1.9],
    [1, 1, "partial", 1, 9, 0.95],
    [1, 2, "partial", 0.67, 9.33, 0.6365],
    [2, 1, "partial", 1.33, 8.67, 1.2635],
    [0, 2, "refunded", 0, 10, 0],
    [0, 0, "completed", 2, 8, 1.9],
  ] as const)(
    "MN10 %i completed and %i failed steps end as %s and pay %d of a price of 2",
    async (completed, failed, status, amount_settled, bossHas, workerHas) => {
      const { content_hash } = await account(steps(completed, failed));
      expect(await deliver()).toMatchObject({ status, amount_settled, ledger_hash: content_hash });
      expect(await balances()).toEqual([bossHas, workerHas]);
    },
  );

  test("MN10 the relay pays a receipt without a ledger in full", async () => {
    expect(await deliver()).toMatchObject({ status: "completed", ledger_hash: null });
    expect(await balances()).toEqual([8, 1.9]);
  });

  test("MN10 the newest ledger of the task decides the payment", async () => {
    await account(["failed"]);
    await account(["failed", "completed"]);
    expect(await deliver()).toMatchObject({ status: "partial", amount_settled: 1 });
  });

  test("MN10 a ledger that arrives after the receipt is ignored", async () => {
    await deliver();
    await account(["failed"]);
    expect(await balances()).toEqual([8, 1.9]);
  });
});

test.each(["failed", "denied"] as const)(
  "the task of a %s receipt is refunded whatever its ledger contains",
  async (status) => {
    const { content_hash } = await account(["completed"]);
    expect(await deliver({ status })).toMatchObject({
      status: "refunded",
      amount_settled: 0,
      ledger_hash: content_hash,
    });
    expect(await balances()).toEqual([10, 0]);
  },
);

test("CR5 the ledger of another agent about the task moves no money", async () => {
  await account(["failed"], boss);
  await account(["failed"], await t.createAgent());
  expect(await deliver()).toMatchObject({ status: "completed", ledger_hash: null });
  expect(await balances()).toEqual([8, 1.9]);
});

describe("Success of a task by its payment", () => {
  const recordOfBoss = async () => {
    const { body } = await t.as(boss, "GET", `/api/v1/agents/${boss.agentId}/trust`);
    return (body["records"] as TrustRecord[])[0];
  };

  /** Reads the success rate that strangers see; it is 0.5 while no task was counted. */
  const marketRate = async () => {
    const path = "/api/v1/market/candidates?capability=summarise";
    const { body } = await t.as(await t.createAgent(), "GET", path);
    const [first] = body["candidates"] as { sub_scores: { success_rate: number } }[];
    return first?.sub_scores.success_rate;
  };

  const credentials = async () => {
    const path = `/api/v1/agents/${worker.agentId}/credentials`;
    const { body } = await t.asOperator("GET", path);
    return ((body["credentials"] ?? []) as { type: string }[]).map(({ type }) => type).sort();
  };

  test.each([
    [steps(1, 1), "partial"],
    [steps(0, 2), "refunded"],
  ] as const)(
    "A6: a completed receipt that is paid less than the price counts only as an interaction (%#)",
    async (outcomes, status) => {
      await account(outcomes);
      expect(await deliver()).toMatchObject({ status });
      expect(await recordOfBoss()).toMatchObject({
        interaction_count: 1,
        successful_tasks: 0,
        failed_tasks: 0,
        trust_level: "unknown",
      });
      expect(await marketRate()).toBe(0.5);
      expect(await credentials()).toEqual([]);
    },
  );

  test("A6: a receipt that is paid in full counts as a success, also for strangers", async () => {
    await account(steps(2, 0));
    expect(await deliver()).toMatchObject({ status: "completed" });
    expect(await recordOfBoss()).toMatchObject({
      interaction_count: 1,
      successful_tasks: 1,
      failed_tasks: 0,
      trust_level: "first_contact",
    });
    expect(await marketRate()).toBe(1);
    expect(await credentials()).toEqual(["AgentReputationCredential", "AgentTrustCredential"]);
  });

  test("A6: a failed receipt counts as a failure, although its settlement is refunded", async () => {
    // Harm counts for strangers only from payers that have left a fee.
    const other = await t.createWorker(1, "other");
    const paid = await submitAcceptedTask(t, boss, other);
    await t.as(other, "POST", `${paid.path}/result`, createReceipt(other, paid));
    expect(await deliver({ status: "failed" })).toMatchObject({ status: "refunded" });
    const { body } = await t.as(boss, "GET", `/api/v1/agents/${boss.agentId}/trust`);
    const record = (body["records"] as TrustRecord[]).find(
      ({ remote_agent_id }) => remote_agent_id === worker.agentId,
    );
    expect(record).toMatchObject({ interaction_count: 1, failed_tasks: 1 });
    expect(await marketRate()).toBe(0);
  });

  test("A6: twenty partial tasks lead to no trust level", async () => {
    await t.deposit(boss, 100);
    for (let count = 0; count < 20; count += 1) {
      if (count > 0) task = await submitAcceptedTask(t, boss, worker);
      await account(steps(1, 1));
      await deliver();
    }
    expect(await recordOfBoss()).toMatchObject({ interaction_count: 20, trust_level: "unknown" });
  });
});
