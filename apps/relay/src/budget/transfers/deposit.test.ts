import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestAgent } from "@agent/testkit";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { expectConsistentBooks } from "../../../test/market.ts";
import {
  OPERATOR_TOKEN,
  startTestRelay,
  type Reply,
  type TestRelay,
} from "../../../test/test-relay.ts";

let t: TestRelay;
let agent: TestAgent;
beforeEach(async () => {
  t = await startTestRelay();
  agent = await t.createAgent();
});
afterEach(() => t.close());

const path = (of = agent, what = "deposit") => `/api/v1/agents/${of.agentId}/${what}`;
const deposit = (body: unknown, to = agent): Promise<Reply> => t.asOperator("POST", path(to), body);
const account = async (of = agent) => (await t.asOperator("GET", path(of, "balance"))).body;

describe("Deposits", () => {
  test("a deposit credits the account and appears as its newest transaction", async () => {
    const { status, body } = await deposit({ amount: 2.5, reference: "r-1", description: "card" });
    expect([status, body]).toEqual([
      200,
      {
        agent_id: agent.agentId,
        balance: 2.5,
        transaction_id: body["transaction_id"],
        idempotent: false,
        agent_known: true,
      },
    ]);
    expect(await account()).toEqual({
      agent_id: agent.agentId,
      balance: 2.5,
      currency: "USD",
      pending_withdrawals: 0,
      pending_allocations: 0,
      card_held: 0,
      transactions: [
        {
          transaction_id: body["transaction_id"],
          agent_id: agent.agentId,
          type: "deposit",
          amount: 2.5,
          balance_after: 2.5,
          reference_id: "r-1",
          description: "card",
          created_at: t.clock.now(),
        },
      ],
    });
    await expectConsistentBooks(t, { deposits: 2.5, balances: 2.5 });
  });

  test("a deposit credits an agent that has not registered yet", async () => {
    const { agentId } = t.createUnknownAgent();
    await t.asOperator("POST", `/api/v1/agents/${agentId}/deposit`, { amount: 1 });
    expect((await t.asOperator("GET", `/api/v1/agents/${agentId}/balance`)).body["balance"]).toBe(
      1,
    );
  });

  test("a deposit under the relay's own id, whose account shows fees, is refused", async () => {
    expect(await deposit({ amount: 1 }, { ...agent, agentId: t.relay.relayId })).toMatchObject({
      status: 400,
      body: { code: "agent.id_reserved" },
    });
    await expectConsistentBooks(t, { deposits: 0 });
  });
});

describe("Amounts of deposits", () => {
  test.each([
    ["-1"],
    ["0"],
    ["-0"],
    ['"5"'],
    ["null"],
    ["NaN"],
    ["true"],
    ["[5]"],
    ["{}"],
    ["1e309"],
    ["1e308"],
    ["1e21"],
    ["1000000000.000001"],
    ["5e-324"],
    ["0.0000001"],
    ["0.30000000000000004"],
    ["1.0000001"],
  ])(
    "MN1, MN2 the relay answers 400 to a deposit with an amount of %s and credits nothing",
    async (text) => {
      const raw = `{"amount":${text},"reference":"r"}`;
      expect(await t.request("POST", path(), { token: OPERATOR_TOKEN, raw })).toMatchObject({
        status: 400,
      });
      expect(await account()).toMatchObject({ balance: 0, transactions: [] });
      expect(await deposit({ amount: 1, reference: "r" })).toMatchObject({
        body: { idempotent: false },
      });
    },
  );

  test("MN1, MN2 the relay refuses a deposit without an amount with 400", async () => {
    expect(await deposit({})).toMatchObject({ status: 400, body: { code: "request.invalid" } });
    expect(await t.asOperator("POST", path())).toMatchObject({ status: 400 });
  });

  test.each([0.000001, 0.1, 1.005, 999_999_999.999999, 1e9])(
    "MN1, MN2 a deposit of %d is credited exactly",
    async (amount) => {
      expect(await deposit({ amount })).toMatchObject({ status: 200, body: { balance: amount } });
    },
  );

  test("MN1, MN2 1,000 deposits of 0.1 add up to exactly 100", async () => {
    const replies = await Promise.all(
      Array.from({ length: 1_000 }, () => deposit({ amount: 0.1 })),
    );
    expect(replies.every(({ status }) => status === 200)).toBe(true);
    expect((await account())["balance"]).toBe(100);
    await expectConsistentBooks(t, { deposits: 100, balances: 100 });
  });

  test("MN1, MN2 any series of deposits adds up exactly", async () => {
    const micros = fc.array(fc.integer({ min: 1, max: 10 ** 12 }), { minLength: 1, maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(micros, async (amounts) => {
        const fresh = t.createUnknownAgent();
        for (const micro of amounts) await deposit({ amount: micro / 1e6 }, fresh);
        const sum = amounts.reduce((a, b) => a + b, 0);
        expect((await account(fresh))["balance"]).toBe(sum / 1e6);
      }),
      { numRuns: 20 },
    );
  });

  test("MN1, MN2 the relay refuses a deposit above a balance of 9e9 with 400 and leaves its reference unused", async () => {
    for (let i = 0; i < 9; i += 1) await deposit({ amount: 1e9 });
    const refused = await deposit({ amount: 0.000001, reference: "last" });
    expect(refused).toMatchObject({ status: 400, body: { code: "money.balance_limit" } });
    expect((await account())["balance"]).toBe(9e9);
    await expectConsistentBooks(t, { deposits: 9e9, balances: 9e9 });
  });

  test("MN1 the relay refuses a deposit that would make the sum of all deposits larger than a safe integer", async () => {
    for (let i = 0; i < 9; i += 1) await deposit({ amount: 1e9 });
    const other = await t.createAgent();
    expect(await deposit({ amount: 7e6 }, other)).toMatchObject({ status: 200 });
    const refused = await deposit({ amount: 1e6 }, other);
    expect(refused).toMatchObject({ status: 400, body: { code: "money.balance_limit" } });
    await expectConsistentBooks(t, { deposits: 9.007e9, balances: 9.007e9 });
  });
});

describe("References of deposits", () => {
  test("MN3 the relay answers a used reference with the balance and credits nothing, whatever the amount", async () => {
    await deposit({ amount: 1, reference: "r" });
    await deposit({ amount: 2 });
    for (const amount of [1, 5]) {
      expect(await deposit({ amount, reference: "r" })).toMatchObject({
        status: 200,
        body: { agent_id: agent.agentId, balance: 3, transaction_id: null, idempotent: true },
      });
    }
    expect((await account())["transactions"]).toHaveLength(2);
  });

  test("MN3 the relay accepts the same reference for another account", async () => {
    const other = await t.createAgent();
    await deposit({ amount: 1, reference: "r" });
    expect(await deposit({ amount: 1, reference: "r" }, other)).toMatchObject({
      body: { balance: 1, idempotent: false },
    });
  });

  test("MN3 the relay credits a reference that is sent 50 times concurrently only once", async () => {
    const replies = await Promise.all(
      Array.from({ length: 50 }, () => deposit({ amount: 1, reference: "r" })),
    );
    expect(replies.filter(({ body }) => body["idempotent"] === false)).toHaveLength(1);
    expect((await account())["balance"]).toBe(1);
  });

  test("MN3 a used reference is stored over a restart", async () => {
    const folder = mkdtempSync(join(tmpdir(), "relay-deposit-"));
    const env = { AGENT_DB_PATH: join(folder, "relay.db") };
    const body = { amount: 1, reference: "r" };
    for (const [seed, idempotent] of [
      [1, false],
      [2, true],
    ] as const) {
      const relay = await startTestRelay(env, seed);
      expect(await relay.asOperator("POST", path(), body)).toMatchObject({
        body: { balance: 1, idempotent },
      });
      await relay.close();
    }
    rmSync(folder, { recursive: true });
  });

  test.each([[""], ["x".repeat(257)], ["x".repeat(10_000)], ["\ud800"], [1], [null], [[]]])(
    "MN3 the relay refuses a reference of %j with 400",
    async (reference) => {
      expect(await deposit({ amount: 1, reference })).toMatchObject({ status: 400 });
      expect((await account())["balance"]).toBe(0);
    },
  );

  test.each([
    ["invoice 17 "],
    [" invoice 17"],
    ["invoice 17\u00a0"],
    ["invoice 17\n"],
    ["re\u0301gie"],
    ["  "],
  ])(
    "MN3 the relay refuses the reference %j, which looks like another reference",
    async (reference) => {
      await deposit({ amount: 1, reference: reference.trim().normalize() || "invoice 17" });
      const { status, body } = await deposit({ amount: 1, reference });
      expect([status, body["issues"]]).toMatchObject([400, [{ path: "reference" }]]);
      expect((await account())["balance"]).toBe(1);
    },
  );

  test("MN16 the relay stores a reference and a description as plain text", async () => {
    const text = "'; DROP TABLE accounts; -- \u0000\n\u{1f600}";
    await deposit({ amount: 1, reference: text, description: text });
    expect((await account())["transactions"]).toMatchObject([
      { reference_id: text, description: text },
    ]);
    expect(await deposit({ amount: 1, reference: text })).toMatchObject({
      body: { idempotent: true },
    });
    expect(await deposit({ amount: 1, description: "x".repeat(1_000_000) })).toMatchObject({
      status: 400,
    });
  });

  test.each(["EUR", "usd", "", null])(
    "the relay refuses a deposit in the currency %j with 400",
    async (currency) => {
      expect(await deposit({ amount: 1, currency })).toMatchObject({ status: 400 });
    },
  );
});

describe("Access to accounts", () => {
  test("MN4, MN5 the relay refuses a deposit under an agent's token with 403, for itself and for others", async () => {
    const other = await t.createAgent();
    for (const to of [agent, other]) {
      expect(await t.as(agent, "POST", path(to), { amount: 1 })).toMatchObject({
        status: 403,
        body: { code: "auth.master_only" },
      });
      expect((await account(to))["balance"]).toBe(0);
    }
    expect(await t.request("POST", path(), { body: { amount: 1 } })).toMatchObject({ status: 401 });
  });

  test.each(["balance", "transactions", "settlements"])(
    "MN4, MN5 the relay shows the %s of an account to its owner and the operator only",
    async (what) => {
      const other = await t.createAgent();
      expect(await t.as(agent, "GET", path(agent, what))).toMatchObject({ status: 200 });
      expect(await t.asOperator("GET", path(agent, what))).toMatchObject({ status: 200 });
      expect(await t.as(other, "GET", path(agent, what))).toMatchObject({ status: 403 });
      expect(await t.request("GET", path(agent, what))).toMatchObject({ status: 401 });
    },
  );
});
