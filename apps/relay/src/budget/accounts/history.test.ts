import { verifySettlementRecord } from "@agent/receipts";
import type { TestAgent } from "@agent/testkit";
import type { Settlement, Transaction } from "@agent/wire";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  createBuyer,
  submitAcceptedTask,
  expectConsistentBooks,
  createSeller,
} from "../../../test/market.ts";
import { createReceipt, startTestRelay, type TestRelay } from "../../../test/test-relay.ts";

let t: TestRelay;
let boss: TestAgent;
let worker: TestAgent;
beforeEach(async () => {
  t = await startTestRelay();
  boss = await createBuyer(t, 10);
  worker = await createSeller(t, 2);
});
afterEach(() => t.close());

const of = (agentId: string, what: string) =>
  t.asOperator("GET", `/api/v1/agents/${agentId}/${what}`);

/** Ends one task of the boss by a receipt of this status. */
async function work(status: "completed" | "failed" | "denied" = "completed") {
  const task = await submitAcceptedTask(t, boss, worker);
  const receipt = createReceipt(worker, task, { status });
  await t.as(worker, "POST", `${task.path}/result`, receipt);
  return { task, receipt };
}

/** Reads a whole list page by page, with the number of rows on each page. */
async function pages<Row>(agentId: string, list: string, limit: number) {
  const rows: Row[] = [];
  const sizes: number[] = [];
  let cursor: string | null = "";
  while (cursor !== null) {
    const { body } = await of(
      agentId,
      `${list}?limit=${limit}${cursor === "" ? "" : `&cursor=${cursor}`}`,
    );
    const page = body[list] as Row[];
    rows.push(...page);
    sizes.push(page.length);
    cursor = body["next_cursor"] as string | null;
  }
  return { rows, sizes };
}

const seen = (rows: readonly Transaction[]) =>
  rows.map(({ type, amount, balance_after }) => [type, amount, balance_after]);

describe("An account's history", () => {
  test("an account's history is empty with a balance of 0 for an unknown agent", async () => {
    const { agentId } = t.createUnknownAgent();
    expect((await of(agentId, "balance")).body).toEqual({
      agent_id: agentId,
      balance: 0,
      currency: "USD",
      pending_withdrawals: 0,
      pending_allocations: 0,
      card_held: 0,
      transactions: [],
    });
    expect((await of(agentId, "transactions")).body).toEqual({
      transactions: [],
      next_cursor: null,
    });
    expect((await of(agentId, "settlements")).body).toEqual({ settlements: [], next_cursor: null });
  });

  test("a settled task shows hold, release and debit to the payer and a credit to the payee", async () => {
    const { task } = await work();
    const payer = (await of(boss.agentId, "transactions")).body["transactions"] as Transaction[];
    expect(seen(payer)).toEqual([
      ["settlement_debit", -2, 8],
      ["allocation_release", 2.4, 10],
      ["allocation_hold", -2.4, 7.6],
      ["deposit", 10, 10],
    ]);
    expect(payer.slice(0, 3).every(({ reference_id }) => reference_id === task.task_id)).toBe(true);
    const payee = (await of(worker.agentId, "transactions")).body["transactions"] as Transaction[];
    expect(seen(payee)).toEqual([["settlement_credit", 1.9, 1.9]]);
    const fees = (await of(t.relay.relayId, "transactions")).body["transactions"] as Transaction[];
    expect(seen(fees)).toEqual([["fee", 0.1, 0.1]]);
    expect((await of(t.relay.relayId, "balance")).body).toMatchObject({ balance: 0.1 });
  });

  test.each(["failed", "denied"] as const)("a %s task returns the whole hold", async (status) => {
    await work(status);
    const { body } = await of(boss.agentId, "balance");
    expect(body).toMatchObject({ balance: 10, pending_allocations: 0 });
    expect(seen(body["transactions"] as Transaction[])).toEqual([
      ["allocation_release", 2.4, 10],
      ["allocation_hold", -2.4, 7.6],
      ["deposit", 10, 10],
    ]);
  });

  test("a hold is shown beside the payer's balance while the task is open", async () => {
    await submitAcceptedTask(t, boss, worker);
    await submitAcceptedTask(t, boss, worker);
    expect((await of(boss.agentId, "balance")).body).toMatchObject({
      balance: 5.2,
      pending_allocations: 4.8,
    });
    expect((await of(worker.agentId, "balance")).body).toMatchObject({ pending_allocations: 0 });
    await expectConsistentBooks(t, { deposits: 10, balances: 5.2, holds: 4.8 });
  });

  test("MN12, MN17 a history adds up row by row to the balance, even when all rows have the same time", async () => {
    for (let i = 0; i < 3; i += 1) await work();
    await Promise.all(Array.from({ length: 60 }, () => t.deposit(boss, 0.1)));
    const { rows } = await pages<Transaction>(boss.agentId, "transactions", 200);
    let balance = 0;
    for (const { amount, balance_after } of rows.toReversed()) {
      balance = Math.round((balance + amount) * 1e6) / 1e6;
      expect(balance_after).toBe(balance);
    }
    expect((await of(boss.agentId, "balance")).body["balance"]).toBe(balance);
    expect(new Set(rows.map(({ transaction_id }) => transaction_id)).size).toBe(rows.length);
  });

  test("the newest 50 transactions are shown with the balance, and all of them page by page", async () => {
    for (let i = 1; i <= 60; i += 1) await t.deposit(boss, i);
    const { rows, sizes } = await pages<Transaction>(boss.agentId, "transactions", 25);
    expect(rows.map(({ amount }) => amount)).toEqual([
      ...Array.from({ length: 60 }, (_, i) => 60 - i),
      10,
    ]);
    expect(sizes).toEqual([25, 25, 11]);
    expect((await of(boss.agentId, "balance")).body["transactions"]).toEqual(rows.slice(0, 50));
    const { body } = await of(boss.agentId, "transactions");
    expect(body["transactions"]).toEqual(rows.slice(0, 50));
  });

  test("the next page of a history continues after the last one, even if new rows were added", async () => {
    for (let i = 1; i <= 4; i += 1) await t.deposit(boss, i);
    const first = await of(boss.agentId, "transactions?limit=2");
    await t.deposit(boss, 100);
    const second = await of(
      boss.agentId,
      `transactions?limit=2&cursor=${String(first.body["next_cursor"])}`,
    );
    expect((second.body["transactions"] as Transaction[]).map(({ amount }) => amount)).toEqual([
      2, 1,
    ]);
  });

  test.each(["limit=0", "limit=201", "limit=x", "cursor=%20", "cursor=YWJj", "cursor=LTE"])(
    "a query for transactions with %s is refused",
    async (query) => {
      expect(await of(boss.agentId, `transactions?${query}`)).toMatchObject({ status: 400 });
    },
  );
});

describe("Settlement records", () => {
  test("a settlement record names payer, payee, amount and receipt and is signed by the relay", async () => {
    const { task } = await work();
    const { body } = await of(boss.agentId, "settlements");
    const [record] = body["settlements"] as Settlement[];
    expect(record).toMatchObject({
      task_id: task.task_id,
      amount_settled: 2,
      fee: 0.1,
      net: 1.9,
      payer_id: boss.agentId,
      payee_id: worker.agentId,
      status: "completed",
      ledger_hash: null,
      settled_at: t.clock.now(),
      issuer: t.did,
    });
    const info = await t.request("GET", "/.well-known/agent-relay.json");
    const publicKey = String(info.body["public_key"]);
    expect(verifySettlementRecord(record, { publicKey })).toMatchObject({ valid: true });
    expect(verifySettlementRecord({ ...record, net: 2 }, { publicKey })).toMatchObject({
      valid: false,
      code: "settlement.signature_invalid",
    });
    expect((await of(worker.agentId, "settlements")).body).toEqual(body);
  });

  test("a failed task has a settlement record of a refund without a payment", async () => {
    await work("failed");
    const { body } = await of(boss.agentId, "settlements");
    const [record] = body["settlements"] as Settlement[];
    expect(record).toMatchObject({ status: "refunded", amount_settled: 0, fee: 0, net: 0 });
    expect(verifySettlementRecord(record)).toMatchObject({ valid: true });
  });

  test("a free task has no settlement record", async () => {
    worker = await createSeller(t, 0);
    await work();
    expect((await of(boss.agentId, "settlements")).body["settlements"]).toEqual([]);
  });

  test.each([
    ["0", 0, 2],
    ["0.333333", 0.666666, 1.333334],
    ["0.999999", 1.999998, 0.000002],
  ])("the charge is split without a remainder at a fee rate of %s", async (rate, fee, net) => {
    const relay = await startTestRelay({ AGENT_PLATFORM_FEE_RATE: rate });
    [t, boss, worker] = [relay, await createBuyer(relay, 10), await createSeller(relay, 2)];
    await work();
    const [record] = (await of(boss.agentId, "settlements")).body["settlements"] as Settlement[];
    expect(record).toMatchObject({ amount_settled: 2, fee, net });
    expect(verifySettlementRecord(record)).toMatchObject({ valid: true });
    await expectConsistentBooks(t, { fees: fee });
  });

  test("the relay lists settlements page by page, newest first, to payer and payee", async () => {
    const tasks: string[] = [];
    for (let i = 0; i < 5; i += 1) {
      await t.clock.advance(1);
      tasks.push((await work()).task.task_id);
    }
    for (const { agentId } of [boss, worker]) {
      const { rows, sizes } = await pages<Settlement>(agentId, "settlements", 2);
      expect(rows.map(({ task_id }) => task_id)).toEqual(tasks.toReversed());
      expect(sizes).toEqual([2, 2, 1]);
    }
  });
});
