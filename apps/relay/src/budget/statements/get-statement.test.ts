import type { TestAgent } from "@agent/testkit";
import type { Statement } from "@agent/wire";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createBuyer, submitAcceptedTask, createSeller } from "../../../test/market.ts";
import { DAY_MS, startJumpingRelay } from "../../../test/processes/clock-jump-relay.ts";
import { createReceipt, startTestRelay, type TestRelay } from "../../../test/test-relay.ts";

let t: TestRelay;
beforeEach(async () => {
  t = await startTestRelay();
});
afterEach(() => t.close());

const of = ({ agentId }: TestAgent, query = "") => `/api/v1/agents/${agentId}/statement${query}`;
const statement = async (agent: TestAgent, query = "") => {
  const { status, body } = await t.as(agent, "GET", of(agent, query));
  expect(status).toBe(200);
  return body as unknown as Statement;
};
const sumOf = ({ transactions }: Statement) =>
  transactions.reduce((sum, { amount }) => sum + Math.round(amount * 1e6), 0);

describe("Statements", () => {
  test("the statement of an unknown account is empty", async () => {
    const agent = await t.createAgent();
    expect(await statement(agent)).toEqual({
      agent_id: agent.agentId,
      currency: "USD",
      from: 0,
      to: t.clock.now(),
      opening_balance: 0,
      transactions: [],
      closing_balance: 0,
      next_cursor: null,
    });
  });

  test("a statement adds its rows, oldest first, to the opening balance and ends at the closing balance", async () => {
    const [boss, worker] = [await createBuyer(t, 10), await createSeller(t, 2)];
    await t.clock.advance(1_000);
    const from = t.clock.now();
    const task = await submitAcceptedTask(t, boss, worker);
    await t.as(worker, "POST", `${task.path}/result`, createReceipt(worker, task));
    await t.clock.advance(1_000);
    const to = t.clock.now();
    await t.deposit(boss, 5);
    const period = await statement(boss, `?from=${from}&to=${to}`);
    expect(period).toMatchObject({ from, to, opening_balance: 10, closing_balance: 8 });
    expect(period.transactions.map(({ type, amount }) => [type, amount])).toEqual([
      ["allocation_hold", -2.4],
      ["allocation_release", 2.4],
      ["settlement_debit", -2],
    ]);
  });

  test("a statement includes the time `from` and excludes the time `to`", async () => {
    const agent = await createBuyer(t, 1);
    const at = t.clock.now();
    await t.clock.advance(1);
    await t.deposit(agent, 2);
    expect(await statement(agent, `?from=${at}&to=${at + 1}`)).toMatchObject({
      opening_balance: 0,
      closing_balance: 1,
    });
    expect(await statement(agent, `?from=${at + 1}&to=${at + 2}`)).toMatchObject({
      opening_balance: 1,
      closing_balance: 3,
    });
    expect(await statement(agent, `?from=${at + 2}&to=${at}`)).toMatchObject({
      transactions: [],
      opening_balance: 3,
      closing_balance: 3,
    });
  });

  test("A10: a statement ends at the balance after the clock went back, and its times never decrease", async () => {
    const jumping = await startJumpingRelay();
    const agent = await createBuyer(jumping, 1);
    jumping.setAhead(-3 * DAY_MS);
    await jumping.asOperator("POST", "/api/v1/admin/clock/accept");
    await jumping.deposit(agent, 30);
    const { body } = await jumping.asOperator("GET", of(agent));
    const { closing_balance, transactions } = body as unknown as Statement;
    expect([closing_balance, await jumping.getBalance(agent)]).toEqual([31, 31]);
    const [first, second] = transactions.map(({ created_at }) => created_at);
    expect(second).toBe(first);
    // A search by time finds both, because it relies on their order.
    const { body: period } = await jumping.asOperator("GET", of(agent, `?from=${first}`));
    expect(period).toMatchObject({ opening_balance: 0, closing_balance: 31 });
    // Another account's times do not depend on it.
    const other = await jumping.createAgent();
    await jumping.deposit(other, 5);
    const { body: own } = await jumping.asOperator("GET", of(other));
    expect(own["transactions"]).toMatchObject([{ created_at: jumping.clock.now() - 3 * DAY_MS }]);
    await jumping.close();
  });

  test("A10: a statement without `to` contains the movements of the current millisecond", async () => {
    const agent = await createBuyer(t, 7);
    expect(await statement(agent)).toMatchObject({ closing_balance: 7, to: t.clock.now() });
    expect(await statement(agent, `?to=${t.clock.now()}`)).toMatchObject({ closing_balance: 0 });
  });

  test("a statement adds up for any period, and adjacent periods share a balance", async () => {
    const agent = await createBuyer(t, 1);
    const start = t.clock.now();
    for (let i = 1; i < 30; i += 1) {
      await t.clock.advance(i % 3);
      await t.deposit(agent, i / 1_000);
    }
    const time = fc.integer({ min: start - 2, max: t.clock.now() + 2 });
    await fc.assert(
      fc.asyncProperty(time, time, async (a, b) => {
        const [from, to] = [Math.min(a, b), Math.max(a, b)];
        const [before, period] = [
          await statement(agent, `?to=${from}`),
          await statement(agent, `?from=${from}&to=${to}`),
        ];
        expect(before.closing_balance).toBe(period.opening_balance);
        const closing = Math.round(period.opening_balance * 1e6) + sumOf(period);
        expect(Math.round(period.closing_balance * 1e6)).toBe(closing);
        const isInside = ({ created_at }: { created_at: number }) =>
          created_at >= from && created_at < to;
        expect(period.transactions.every(isInside)).toBe(true);
      }),
      { numRuns: 40 },
    );
  });

  test("a statement may be comma-separated values, in which no text of others can run as a formula", async () => {
    const agent = await t.createAgent();
    const deposit = { amount: 0.000001, reference: 'r "1", x', description: "=HYPERLINK(1)" };
    await t.asOperator("POST", `/api/v1/agents/${agent.agentId}/deposit`, deposit);
    const at = new Date(t.clock.now()).toISOString();
    const end = t.clock.now() + 1;
    const reply = await t.as(agent, "GET", of(agent, `?format=csv&to=${end}`));
    expect(reply.headers.get("content-type")).toBe("text/csv");
    const lines = reply.text.split("\r\n");
    expect(lines[0]).toBe(
      "created_at,transaction_id,type,amount,balance_after,reference_id,description",
    );
    expect(lines[1]).toBe("1970-01-01T00:00:00.000Z,,opening_balance,,0,,");
    expect(lines[2]).toMatch(
      new RegExp(
        `^${at},[0-9a-f-]{36},deposit,0.000001,0.000001,"r ""1"", x","'=HYPERLINK\\(1\\)"$`,
      ),
    );
    expect(lines[3]).toBe(`${new Date(end).toISOString()},,closing_balance,,0.000001,,`);
  });

  test.each(["\n=1", "\uff1d1", "\uff0b1", "\uff0d1", "\uff201"])(
    "H15: a statement puts a prefix before the text %j, which a spreadsheet may run",
    async (description) => {
      const agent = await t.createAgent();
      const deposit = { amount: 1, description };
      await t.asOperator("POST", `/api/v1/agents/${agent.agentId}/deposit`, deposit);
      const reply = await t.as(agent, "GET", of(agent, "?format=csv"));
      expect(reply.text).toContain(`,"'${description}"`);
    },
  );

  test("H15: a statement does not change a text that has such a character elsewhere", async () => {
    const agent = await t.createAgent();
    const deposit = { amount: 1, description: "a = b\n\uff1d" };
    await t.asOperator("POST", `/api/v1/agents/${agent.agentId}/deposit`, deposit);
    const reply = await t.as(agent, "GET", of(agent, "?format=csv"));
    expect(reply.text).toContain(',"a = b\n\uff1d"');
  });

  test.each(["?from=x", "?to=-1", "?cursor=x", "?format=pdf", "?from=9999999999999999"])(
    "a statement with %s is refused",
    async (query) => {
      const agent = await t.createAgent();
      expect(await t.as(agent, "GET", of(agent, query))).toMatchObject({ status: 400 });
    },
  );

  test("a statement is shown to its owner only", async () => {
    const [agent, other] = [await createBuyer(t, 1), await t.createAgent()];
    expect(await t.as(other, "GET", of(agent))).toMatchObject({ status: 403 });
  });
});
