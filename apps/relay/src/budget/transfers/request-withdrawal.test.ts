import type { TestAgent } from "@agent/testkit";
import { limits } from "@agent/wire";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createBuyer, expectConsistentBooks, countStatuses } from "../../../test/market.ts";
import { startTestRelay, type Reply, type TestRelay } from "../../../test/test-relay.ts";

let t: TestRelay;
beforeEach(async () => {
  t = await startTestRelay();
});
afterEach(() => t.close());

const admin = "/api/v1/admin/withdrawals";
const of = ({ agentId }: TestAgent, what: string) => `/api/v1/agents/${agentId}/${what}`;
const ask = (agent: TestAgent, amount: number): Promise<Reply> =>
  t.as(agent, "POST", of(agent, "withdrawals"), { amount, destination: "IBAN 1" });
const idOf = ({ body }: Reply) => body["withdrawal_id"] as string;
const complete = (id: string) =>
  t.asOperator("POST", `${admin}/${id}/complete`, { payout_reference: "wire 7" });
const fail = (id: string) =>
  t.asOperator("POST", `${admin}/${id}/fail`, { reason: "closed account" });
const balanceOf = async (agent: TestAgent) => {
  const { body } = await t.asOperator("GET", of(agent, "balance"));
  const { balance, pending_withdrawals, transactions } = body as {
    balance: number;
    pending_withdrawals: number;
    transactions: { type: string; amount: number }[];
  };
  return { balance, pending_withdrawals, rows: transactions.map((row) => [row.type, row.amount]) };
};

describe("Withdrawals", () => {
  test("a withdrawal is debited from the balance at once and shown as pending", async () => {
    const agent = await createBuyer(t, 10);
    const { status, body } = await ask(agent, 3.5);
    expect(status).toBe(201);
    expect(body).toMatchObject({
      agent_id: agent.agentId,
      amount: 3.5,
      currency: "USD",
      destination: "IBAN 1",
      status: "pending",
      resolved_at: null,
    });
    expect(await balanceOf(agent)).toEqual({
      balance: 6.5,
      pending_withdrawals: 3.5,
      rows: [
        ["withdrawal", -3.5],
        ["deposit", 10],
      ],
    });
    await expectConsistentBooks(t, { deposits: 10, withdrawals: 0, balances: 6.5, holds: 3.5 });
  });

  test("a completed withdrawal removes its money from the relay", async () => {
    const agent = await createBuyer(t, 10);
    const id = idOf(await ask(agent, 3));
    expect(await complete(id)).toMatchObject({
      status: 200,
      body: { status: "completed", payout_reference: "wire 7", resolved_at: t.clock.now() },
    });
    expect(await balanceOf(agent)).toMatchObject({ balance: 7, pending_withdrawals: 0 });
    await expectConsistentBooks(t, { deposits: 10, withdrawals: 3, balances: 7, holds: 0 });
  });

  test("a failed withdrawal returns its money, and the rows add up to the balance", async () => {
    const agent = await createBuyer(t, 10);
    const id = idOf(await ask(agent, 3));
    expect(await fail(id)).toMatchObject({
      status: 200,
      body: { status: "failed", reason: "closed account", payout_reference: null },
    });
    const { balance, pending_withdrawals, rows } = await balanceOf(agent);
    expect([balance, pending_withdrawals]).toEqual([10, 0]);
    expect(rows.reduce((sum, [, amount]) => sum + Number(amount), 0)).toBe(10);
    await expectConsistentBooks(t, { withdrawals: 0, balances: 10, holds: 0 });
  });

  test("a failed withdrawal returns its money even if the account has reached its limit meanwhile", async () => {
    const agent = await createBuyer(t, 1e9);
    const id = idOf(await ask(agent, 1e9));
    for (let i = 0; i < 8; i += 1) await t.deposit(agent, 1e9);
    const more = await t.asOperator("POST", of(agent, "deposit"), { amount: 1 });
    expect(more).toMatchObject({ status: 400, body: { code: "money.balance_limit" } });
    expect(await fail(id)).toMatchObject({ status: 200 });
    expect(await balanceOf(agent)).toMatchObject({ balance: 9e9, pending_withdrawals: 0 });
  });

  test.each(["complete", "fail"] as const)(
    "the relay refuses to resolve a withdrawal again after the operator chose to %s it",
    async (first) => {
      const agent = await createBuyer(t, 10);
      const id = idOf(await ask(agent, 3));
      await (first === "complete" ? complete(id) : fail(id));
      const before = await balanceOf(agent);
      for (const again of [complete, fail]) {
        expect(await again(id)).toMatchObject({
          status: 409,
          body: { code: "withdrawal.resolved" },
        });
      }
      expect(await balanceOf(agent)).toEqual(before);
    },
  );

  test("the relay resolves a withdrawal once when both decisions arrive concurrently", async () => {
    const id = idOf(await ask(await createBuyer(t, 10), 3));
    const replies = await Promise.all([complete(id), fail(id), complete(id)]);
    expect(countStatuses(replies)).toEqual({ 200: 1, 409: 2 });
    await expectConsistentBooks(t);
  });

  test("the relay refuses a withdrawal above the balance, and accepts one of several for the whole balance", async () => {
    const agent = await createBuyer(t, 10);
    expect(await ask(agent, 10.000001)).toMatchObject({
      status: 402,
      body: { code: "budget.insufficient" },
    });
    expect(await balanceOf(agent)).toMatchObject({ balance: 10, pending_withdrawals: 0 });
    const replies = await Promise.all([ask(agent, 10), ask(agent, 10), ask(agent, 10)]);
    expect(countStatuses(replies)).toEqual({ 201: 1, 402: 2 });
    await expectConsistentBooks(t, { balances: 0, holds: 10 });
  });

  test.each([0, -1, 0.0000001, 1e10, "3"])(
    "the relay refuses a withdrawal of %s",
    async (amount) => {
      const agent = await createBuyer(t, 10);
      expect(await ask(agent, amount as number)).toMatchObject({ status: 400 });
      expect(await balanceOf(agent)).toMatchObject({ balance: 10 });
    },
  );
});

describe("Lists of withdrawals", () => {
  test("the relay lists an agent's withdrawals newest first, page by page", async () => {
    const agent = await createBuyer(t, 10);
    const ids = [];
    for (let i = 0; i < 3; i += 1) {
      ids.unshift(idOf(await ask(agent, 1)));
      await t.clock.advance(1);
    }
    const first = await t.as(agent, "GET", `${of(agent, "withdrawals")}?limit=2`);
    const cursor = String(first.body["next_cursor"]);
    const second = await t.as(agent, "GET", `${of(agent, "withdrawals")}?limit=2&cursor=${cursor}`);
    const seen = [first, second].flatMap(({ body }) => body["withdrawals"] as object[]);
    expect(seen).toMatchObject(ids.map((withdrawal_id) => ({ withdrawal_id })));
    expect(second.body["next_cursor"]).toBeNull();
  });

  test("the relay lists the withdrawals of all agents by status to the operator only", async () => {
    const [ann, bob] = [await createBuyer(t, 10), await createBuyer(t, 10)];
    const [paid, open] = [idOf(await ask(ann, 1)), idOf(await ask(bob, 2))];
    await complete(paid);
    const list = async (status: string) =>
      (await t.asOperator("GET", `${admin}${status}`)).body["withdrawals"];
    expect(await list("?status=pending")).toMatchObject([{ withdrawal_id: open }]);
    expect(await list("?status=completed")).toMatchObject([{ withdrawal_id: paid }]);
    expect(await list("")).toHaveLength(2);
    expect(await t.as(ann, "GET", admin)).toMatchObject({ status: 403 });
  });

  test("the relay accepts a withdrawal from the owner of the account only", async () => {
    const [agent, other] = [await createBuyer(t, 10), await t.createAgent()];
    const path = of(agent, "withdrawals");
    const body = { amount: 1, destination: "mine" };
    expect(await t.as(other, "POST", path, body)).toMatchObject({ status: 403 });
    const token = await t.token(agent, ["account:read"]);
    expect(await t.request("POST", path, { token, body })).toMatchObject({ status: 403 });
    expect(await balanceOf(agent)).toMatchObject({ balance: 10 });
  });
});

describe("The limit of pending withdrawals", () => {
  test("MN18: an agent with 20 pending withdrawals is refused another until one is resolved", async () => {
    const [agent, other] = [await createBuyer(t, 30), await createBuyer(t, 10)];
    const pending: string[] = [];
    for (let at = 0; at < limits.pendingWithdrawals; at += 1) {
      const asked = await ask(agent, 1);
      expect(asked.status).toBe(201);
      pending.push(idOf(asked));
    }
    const refused = { status: 409, body: { code: "withdrawal.too_many" } };
    expect(await ask(agent, 1)).toMatchObject(refused);
    expect(await balanceOf(agent)).toMatchObject({ balance: 10, pending_withdrawals: 20 });
    expect(await ask(other, 1)).toMatchObject({ status: 201 });
    await complete(pending[0] ?? "");
    expect(await ask(agent, 1)).toMatchObject({ status: 201 });
    expect(await ask(agent, 1)).toMatchObject(refused);
    await fail(pending[1] ?? "");
    expect(await ask(agent, 1)).toMatchObject({ status: 201 });
    await expectConsistentBooks(t);
  });

  test("MN18: of many withdrawals at once no more than 20 become pending", async () => {
    const agent = await createBuyer(t, 100);
    const asked = await Promise.all(Array.from({ length: 25 }, () => ask(agent, 1)));
    expect(countStatuses(asked)).toEqual({ 201: 20, 409: 5 });
    expect(await balanceOf(agent)).toMatchObject({ balance: 80, pending_withdrawals: 20 });
  });
});
