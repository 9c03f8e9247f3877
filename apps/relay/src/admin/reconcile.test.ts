import { describe, expect, test } from "vitest";
import { openEditedRelay } from "../../test/stored/edited-relay.ts";
import {
  createBuyer,
  submitAcceptedTask,
  expectConsistentBooks,
  createSeller,
} from "../../test/market.ts";
import { createReceipt, startTestRelay, type TestRelay } from "../../test/test-relay.ts";

const reconcile = async (t: TestRelay) =>
  (await t.asOperator("GET", "/api/v1/admin/reconciliation")).body as {
    consistent: boolean;
    checks: { name: string; ok: boolean; detail: string }[];
    totals: Record<string, number>;
  };

describe("the books", () => {
  test("the books of a new relay are consistent, and all their totals are 0", async () => {
    const t = await startTestRelay();
    const { consistent, totals } = await reconcile(t);
    expect([consistent, totals]).toEqual([
      true,
      { deposits: 0, withdrawals: 0, balances: 0, holds: 0, fees: 0, peers: 0, card_reversals: 0 },
    ]);
    await t.close();
  });

  test("the books show the money at every step of a task", async () => {
    const t = await startTestRelay();
    const [boss, worker] = [await createBuyer(t, 10), await createSeller(t, 2)];
    await expectConsistentBooks(t, { deposits: 10, balances: 10, holds: 0, fees: 0 });
    const task = await submitAcceptedTask(t, boss, worker);
    await expectConsistentBooks(t, { deposits: 10, balances: 7.6, holds: 2.4, fees: 0 });
    await t.as(worker, "POST", `${task.path}/result`, createReceipt(worker, task));
    await expectConsistentBooks(t, { deposits: 10, balances: 9.9, holds: 0, fees: 0.1 });
    await submitAcceptedTask(t, boss, worker);
    await t.clock.advance(900_000);
    await t.relay.tick();
    await expectConsistentBooks(t, { deposits: 10, balances: 9.9, holds: 0, fees: 0.1 });
    await t.close();
  });

  test("only the operator may read the books", async () => {
    const t = await startTestRelay();
    const path = "/api/v1/admin/reconciliation";
    expect(await t.as(await t.createAgent(), "GET", path)).toMatchObject({ status: 403 });
    expect(await t.request("GET", path)).toMatchObject({ status: 401 });
    await t.close();
  });

  const account = (name: string, balance: number) =>
    `INSERT INTO accounts (account, balance, held, pending_withdrawals, sequence)
       VALUES ('${name}', ${balance}, 0, 0, 1);`;
  const posting = (name: string, amount: number) =>
    `INSERT INTO postings (account, sequence, transaction_id, type, amount, balance_after, created_at)
       VALUES ('${name}', 1, 't', 'deposit', ${amount}, ${amount}, 1);`;
  const moved = (name: string, amount: number) => account(name, amount) + posting(name, amount);

  const takenBack = (agentId: string, booked: number) =>
    `INSERT INTO card_reversals (payment_id, agent_id, refunded, booked, created_at)
       VALUES ('pi_1', '${agentId}', ${booked}, ${booked}, 1);`;

  test("A13: the books are consistent while an agent owes reversed card payments", async () => {
    const sql = moved("agent:a", -5) + moved("agent:b", 5) + takenBack("a", 5);
    const state = await openEditedRelay(() => sql);
    const { consistent, totals } = await reconcile(state.t);
    expect([consistent, totals]).toMatchObject([true, { card_reversals: 0.000005 }]);
    await state.close();
  });

  test.each([
    ["money out of nothing", moved("agent:a", 5), ["the balances of all accounts sum to 0"]],
    [
      "a balance that its postings do not make",
      account("agent:a", 5) + account("world", -5),
      ["each balance is the sum of its postings"],
    ],
    [
      "an agent that owes more than was taken back of its card payments",
      moved("agent:a", -5) + moved("agent:b", 5) + takenBack("a", 4),
      ["no agent owes, except by card_reversal"],
    ],
    [
      "an agent that owes",
      moved("agent:a", -5) + moved("agent:b", 5),
      ["no agent owes, except by card_reversal"],
    ],
    [
      "a hold without a task",
      moved("world", -5) + moved("held:t", 5),
      ["each hold belongs to an open task or withdrawal"],
    ],
  ])("the books report %s as a failure of the right check", async (_, sql, failing) => {
    const state = await openEditedRelay(() => sql);
    const { consistent, checks } = await reconcile(state.t);
    expect(consistent).toBe(false);
    expect(checks.filter(({ ok }) => !ok).map(({ name }) => name)).toEqual(failing);
    await state.close();
  });
});
