import { createReceipt, type TestAgent } from "@agent/testkit";
import type { MarketCandidate, Transaction } from "@agent/wire";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  cardEnv,
  createDisputeEvent,
  createFailedRefundEvent,
  createPaidEvent,
  overdrawAccount,
  payByCard,
  createRefundEvent,
  sendEvent,
} from "../../test/payments/card-processor.ts";
import {
  submitAcceptedTask,
  expectConsistentBooks,
  getAgentStates,
  createSeller,
  submitTask,
  type Delegation,
} from "../../test/market.ts";
import { startTestRelay, type Reply, type TestRelay } from "../../test/test-relay.ts";

const WEEK_MS = 604_800_000;

let t: TestRelay;
let agent: TestAgent;
beforeEach(async () => {
  // No server listens here, because no test of this file opens a page of the processor.
  t = await startTestRelay(cardEnv("http://127.0.0.1:1"));
  agent = await t.createAgent();
});
afterEach(() => t.close());

const received = { status: 200, body: { received: true } };
const sendAccepted = async (event: string) =>
  expect(await sendEvent(t, event)).toMatchObject(received);
const balance = (of = agent) => t.getBalance(of);
const withdraw = (amount: number, of = agent): Promise<Reply> =>
  t.as(of, "POST", `/api/v1/agents/${of.agentId}/withdrawals`, { amount, destination: "IBAN 1" });
const cardHeld = async (of = agent) =>
  (await t.as(of, "GET", `/api/v1/agents/${of.agentId}/balance`)).body["card_held"];
const deliver = (task: Delegation, by: TestAgent) =>
  t.as(by, "POST", `${task.path}/result`, createReceipt(by, task));

/** Completes a task of the worker at a price. */
async function buy(price: number, by = agent, worker?: TestAgent): Promise<TestAgent> {
  const seller = worker ?? (await createSeller(t, price));
  expect(await deliver(await submitAcceptedTask(t, by, seller), seller)).toMatchObject({
    status: 200,
  });
  return seller;
}

/** Checks the totals of the books, which must be consistent. */
const books = (totals: Record<string, number>) => expectConsistentBooks(t, totals);

describe("Refunds of card payments", () => {
  beforeEach(() => payByCard(t, agent));

  test("A13: a full refund is shown as a deposit with a negative amount", async () => {
    await sendAccepted(createRefundEvent("pi_1", 1_250));
    expect(await balance()).toBe(0);
    const { body } = await t.as(agent, "GET", `/api/v1/agents/${agent.agentId}/transactions`);
    expect((body["transactions"] as Transaction[])[0]).toMatchObject({
      type: "deposit",
      amount: -12.5,
      balance_after: 0,
      reference_id: "stripe:cs_pi_1",
      description: "card payment taken back",
    });
    await books({ deposits: 0, balances: 0, card_reversals: 12.5 });
  });

  test("A13: partial refunds that each report their sum may arrive twice or late", async () => {
    await sendAccepted(createRefundEvent("pi_1", 250));
    expect(await balance()).toBe(10);
    await sendAccepted(createRefundEvent("pi_1", 750));
    expect(await balance()).toBe(5);
    await sendAccepted(createRefundEvent("pi_1", 250));
    await sendAccepted(createRefundEvent("pi_1", 750));
    expect(await balance()).toBe(5);
    await books({ deposits: 5, card_reversals: 7.5 });
  });

  test("A13: eight concurrent copies of a refund event debit once", async () => {
    await Promise.all(
      Array.from({ length: 8 }, () => sendAccepted(createRefundEvent("pi_1", 1_250))),
    );
    expect(await balance()).toBe(0);
    await books({ deposits: 0, card_reversals: 12.5 });
  });

  test("A13: a refund that arrives before its payment is applied with the payment", async () => {
    const late = await t.createAgent();
    await sendAccepted(createRefundEvent("pi_2", 500));
    await books({ deposits: 12.5, card_reversals: 0 });
    await payByCard(t, late, { payment: "pi_2" });
    expect(await balance(late)).toBe(7.5);
    await payByCard(t, late, { payment: "pi_2" });
    expect(await balance(late)).toBe(7.5);
    await books({ deposits: 20, card_reversals: 5 });
  });

  test.each<[string, object]>([
    ["of another relay's charge", { metadata: { relay_id: "another" } }],
    ["of a charge that was no checkout", { payment_intent: null }],
    ["of an unknown payment", { payment_intent: "pi_9" }],
    ["in another currency", { currency: "eur" }],
    ["of half a cent", { amount_refunded: 0.5 }],
    ["of zero", { amount_refunded: 0 }],
  ])("A13: a refund %s changes nothing", async (_, change) => {
    const before = await getAgentStates(t, [agent]);
    await sendAccepted(createRefundEvent("pi_1", 1_250, change));
    expect(await getAgentStates(t, [agent])).toEqual(before);
    await books({ deposits: 12.5, card_reversals: 0 });
  });

  test("A13: a refund that does not reach the card is logged, so that the operator can credit it", async () => {
    await sendAccepted(createRefundEvent("pi_1", 1_250));
    await sendAccepted(createFailedRefundEvent("pi_1", 1_250));
    await sendAccepted(createFailedRefundEvent("pi_9", 1_250));
    expect(await balance()).toBe(0);
    expect(t.listLogged("card.refund_failed")).toMatchObject([
      {
        level: "error",
        correlationId: "pi_1",
        refund_id: "re_pi_1",
        agent_id: agent.agentId,
        amount: 12.5,
      },
    ]);
    const credit = { amount: 12.5, reference: "stripe:re_pi_1" };
    await t.asOperator("POST", `/api/v1/agents/${agent.agentId}/deposit`, credit);
    await books({ deposits: 12.5, balances: 12.5, card_reversals: 12.5 });
  });

  test("A13: a refund event that the processor did not sign is refused and changes nothing", async () => {
    const before = await getAgentStates(t, [agent]);
    for (const event of [createRefundEvent("pi_1", 1_250), createDisputeEvent("pi_1", 1_250)]) {
      const reply = await sendEvent(t, event, { secret: "whsec_another" });
      expect(reply).toMatchObject({ status: 400, body: { code: "card.signature_invalid" } });
    }
    expect(await getAgentStates(t, [agent])).toEqual(before);
  });

  test("A13: a refund is refused while the relay is frozen and applied when its event is sent again", async () => {
    await t.asOperator("POST", "/api/v1/admin/freeze", { reason: "an audit" });
    expect(await sendEvent(t, createRefundEvent("pi_1", 1_250))).toMatchObject({ status: 503 });
    await t.asOperator("POST", "/api/v1/admin/unfreeze");
    expect(await balance()).toBe(12.5);
    await sendAccepted(createRefundEvent("pi_1", 1_250));
    expect(await balance()).toBe(0);
  });
});

describe("Disputes of card payments", () => {
  const closed = (status: string) => ({ type: "closed", status, created: 2 }) as const;
  beforeEach(() => payByCard(t, agent));

  test.each([
    ["won returns", "won", 12.5],
    ["lost keeps", "lost", 0],
  ])("A13: a dispute that was %s the money", async (_, status, left) => {
    await sendAccepted(createDisputeEvent("pi_1", 1_250));
    expect(await balance()).toBe(0);
    await sendAccepted(createDisputeEvent("pi_1", 1_250, closed(status)));
    await sendAccepted(createDisputeEvent("pi_1", 1_250, closed(status)));
    expect(await balance()).toBe(left);
    await books({ deposits: left, card_reversals: 12.5 - left });
  });

  test("A13: a dispute has the same effect if its end is reported before its beginning", async () => {
    await sendAccepted(createDisputeEvent("pi_1", 1_250, closed("won")));
    await sendAccepted(createDisputeEvent("pi_1", 1_250));
    expect(await balance()).toBe(12.5);
    await sendAccepted(createDisputeEvent("pi_1", 500, { id: "dp_2", ...closed("lost") }));
    await sendAccepted(createDisputeEvent("pi_1", 500, { id: "dp_2" }));
    expect(await balance()).toBe(7.5);
  });

  test("A13: a disputed payment that was also refunded is debited once", async () => {
    await sendAccepted(createDisputeEvent("pi_1", 1_250));
    await sendAccepted(createRefundEvent("pi_1", 1_250));
    expect(await balance()).toBe(0);
    await sendAccepted(createDisputeEvent("pi_1", 1_250, closed("won")));
    expect(await balance()).toBe(0);
    await books({ deposits: 0, card_reversals: 12.5 });
  });

  test("A13: a dispute debits the payment, but an inquiry by the cardholder's bank does not", async () => {
    await sendAccepted(createDisputeEvent("pi_1", 1_250, { status: "warning_needs_response" }));
    expect(await balance()).toBe(12.5);
    await sendAccepted(
      createDisputeEvent("pi_1", 1_250, { type: "updated", status: "needs_response", created: 2 }),
    );
    expect(await balance()).toBe(0);
  });

  test("A13: a dispute that arrives before its payment is applied with it, and reversed when it is won", async () => {
    const late = await t.createAgent();
    await sendAccepted(createDisputeEvent("pi_2", 1_250));
    await payByCard(t, late, { payment: "pi_2" });
    expect(await balance(late)).toBe(0);
    await sendAccepted(createDisputeEvent("pi_2", 1_250, closed("won")));
    expect(await balance(late)).toBe(12.5);
    expect(await withdraw(1, late)).toMatchObject({ status: 402 });
    await t.clock.advance(WEEK_MS);
    expect(await withdraw(12.5, late)).toMatchObject({ status: 201 });
  });

  test("A13: a payment credited by an older relay is reversed when its event is sent again", async () => {
    const old = await t.createAgent();
    const session = { id: "cs_old", payment_status: "paid" };
    await sendAccepted(createPaidEvent(t, old.agentId, session));
    await sendAccepted(createDisputeEvent("pi_old", 1_250));
    expect(await balance(old)).toBe(12.5);
    await sendAccepted(createPaidEvent(t, old.agentId, { ...session, payment_intent: "pi_old" }));
    expect(await balance(old)).toBe(0);
  });
});

describe("Accounts below 0 after a reversal", () => {
  const refused = { status: 402, body: { code: "account.overdrawn" } };

  test("A13: an account owes reversed money that it has spent, and the books show it as card_reversal", async () => {
    await overdrawAccount(t, agent);
    expect(await balance()).toBe(-10);
    await books({ balances: -0.5, deposits: 0, fees: 0.5, card_reversals: 10 });
    expect(t.listLogged("account.overdrawn")).toMatchObject([{ agent_id: agent.agentId }]);
  });

  test("A13: an account below 0 can neither hold nor withdraw money, and a refusal changes nothing", async () => {
    await overdrawAccount(t, agent);
    const before = await getAgentStates(t, [agent]);
    expect(await submitTask(t, agent, await createSeller(t, 2))).toMatchObject(refused);
    expect(await withdraw(1)).toMatchObject(refused);
    expect(await getAgentStates(t, [agent])).toEqual(before);
  });

  test("A13: an account below 0 may submit free tasks, and spends again once it is paid", async () => {
    await overdrawAccount(t, agent);
    expect(await submitTask(t, agent, await t.createAgent())).toMatchObject({ status: 201 });
    await t.deposit(agent, 9);
    expect(await submitTask(t, agent, await createSeller(t, 2))).toMatchObject(refused);
    await t.deposit(agent, 3);
    expect(await balance()).toBe(2);
    expect(await submitTask(t, agent, await createSeller(t, 2))).toMatchObject({ status: 201 });
  });

  test("A13: the earlier holds of an account below 0 are settled, so that the worker is paid", async () => {
    await payByCard(t, agent);
    const worker = await createSeller(t, 10);
    const task = await submitAcceptedTask(t, agent, worker);
    await sendAccepted(createDisputeEvent("pi_1", 1_250));
    expect(await balance()).toBe(-12);
    expect(await deliver(task, worker)).toMatchObject({ status: 200 });
    expect([await balance(), await balance(worker)]).toEqual([-10, 9.5]);
    expect(await withdraw(1, worker)).toMatchObject({ body: { code: "budget.card_hold" } });
    await books({ holds: 0, card_reversals: 12.5 });
  });

  test("A13: an account below 0 gets back the hold of a cancelled task", async () => {
    await payByCard(t, agent);
    const task = await submitAcceptedTask(t, agent, await createSeller(t, 10));
    await sendAccepted(createDisputeEvent("pi_1", 1_250));
    expect(await t.as(agent, "POST", `${task.path}/cancel`)).toMatchObject({ status: 200 });
    expect(await balance()).toBe(0);
    await books({ holds: 0, balances: 0 });
  });

  test("A13: an account owes nothing once its dispute is won, and card_reversal is 0 again", async () => {
    await overdrawAccount(t, agent);
    await books({ card_reversals: 10 });
    await sendAccepted(
      createDisputeEvent("pi_1", 1_000, { type: "closed", status: "won", created: 2 }),
    );
    expect(await balance()).toBe(0);
    await books({ card_reversals: 0 });
  });
});

describe("Withdrawals of card money", () => {
  const held = { status: 402, body: { code: "budget.card_hold" } };

  test("A13: card money can be spent at once, but withdrawn only after a week and not a millisecond earlier", async () => {
    await payByCard(t, agent);
    expect(await cardHeld()).toBe(12.5);
    const before = await getAgentStates(t, [agent]);
    expect(await withdraw(0.01)).toMatchObject(held);
    expect(await getAgentStates(t, [agent])).toEqual(before);
    await buy(10);
    expect(await balance()).toBe(2.5);
    await t.clock.advance(WEEK_MS - 1);
    expect(await withdraw(2.5)).toMatchObject(held);
    await t.clock.advance(1);
    expect(await cardHeld()).toBe(0);
    expect(await withdraw(2.5)).toMatchObject({ status: 201 });
  });

  test("A13: other money can be withdrawn at once, and a withdrawal above the balance is refused", async () => {
    await payByCard(t, agent);
    await t.deposit(agent, 5);
    expect(await withdraw(5.01)).toMatchObject(held);
    expect(await withdraw(17.51)).toMatchObject({ body: { code: "budget.insufficient" } });
    expect(await withdraw(5)).toMatchObject({ status: 201 });
  });

  test("A13: card money stays locked at the agents that are paid with it", async () => {
    await payByCard(t, agent);
    const second = await buy(10);
    expect([await balance(second), await cardHeld(second)]).toEqual([9.5, 9.5]);
    expect(await withdraw(1, second)).toMatchObject(held);
    const third = await buy(9, second);
    expect([await balance(third), await cardHeld(third)]).toEqual([8.55, 8.55]);
    await t.clock.advance(WEEK_MS - 1);
    expect(await withdraw(8.55, third)).toMatchObject(held);
    await t.clock.advance(1);
    expect(await withdraw(8.55, third)).toMatchObject({ status: 201 });
  });

  test("A13: card money is spent last, so that a payee of other money can withdraw at once", async () => {
    await payByCard(t, agent);
    await t.deposit(agent, 10);
    const worker = await buy(10);
    expect(await cardHeld(worker)).toBe(0);
    expect(await withdraw(9.5, worker)).toMatchObject({ status: 201 });
    expect(await cardHeld()).toBe(12.5);
  });

  test("A13: a cancelled task or a failed withdrawal does not release card money", async () => {
    await payByCard(t, agent);
    await t.deposit(agent, 5);
    const task = await submitAcceptedTask(t, agent, await createSeller(t, 10));
    await t.as(agent, "POST", `${task.path}/cancel`);
    const { body } = await withdraw(5);
    const path = `/api/v1/admin/withdrawals/${String(body["withdrawal_id"])}/fail`;
    await t.asOperator("POST", path, { reason: "no such account" });
    expect([await balance(), await cardHeld()]).toEqual([17.5, 12.5]);
    expect(await withdraw(5.01)).toMatchObject(held);
  });

  test("A13: the reversal of an older payment does not release card money", async () => {
    await payByCard(t, agent, { payment: "pi_1", cents: 1_000 });
    await t.clock.advance(WEEK_MS);
    await payByCard(t, agent, { payment: "pi_2", cents: 1_000 });
    await sendAccepted(createRefundEvent("pi_1", 1_000));
    expect([await balance(), await cardHeld()]).toEqual([10, 10]);
    expect(await withdraw(0.01)).toMatchObject(held);
    await books({ deposits: 10, balances: 10, card_reversals: 10 });
  });

  /** Moves the older payment out of the account, and returns the function that brings it back. */
  const leave = {
    "holds a task": async () => {
      const task = await submitAcceptedTask(t, agent, await createSeller(t, 8.333333));
      return () => t.as(agent, "POST", `${task.path}/cancel`);
    },
    "waits to be paid out": async () => {
      const { body } = await withdraw(10);
      const path = `/api/v1/admin/withdrawals/${String(body["withdrawal_id"])}/fail`;
      return () => t.asOperator("POST", path, { reason: "the card bounced" });
    },
  };

  test.each(Object.entries(leave))(
    "A13: the reversal of an older payment that %s does not release card money",
    async (_, leaveAccount) => {
      await payByCard(t, agent, { payment: "pi_1", cents: 1_000 });
      await t.clock.advance(WEEK_MS);
      await payByCard(t, agent, { payment: "pi_2", cents: 1_000 });
      const comeBack = await leaveAccount();
      expect(await balance()).toBe(10);
      await sendAccepted(createRefundEvent("pi_1", 1_000));
      expect([await balance(), await cardHeld()]).toEqual([0, 0]);
      expect(await comeBack()).toMatchObject({ status: 200 });
      expect([await balance(), await cardHeld()]).toEqual([10, 10]);
      expect(await withdraw(0.01)).toMatchObject(held);
      await t.clock.advance(WEEK_MS);
      expect(await withdraw(10)).toMatchObject({ status: 201 });
    },
  );

  test("A13: the refund of a payment takes its own card money, so that other money can still be withdrawn", async () => {
    await payByCard(t, agent, { payment: "pi_1", cents: 1_000 });
    await t.deposit(agent, 5);
    await sendAccepted(createRefundEvent("pi_1", 400));
    expect([await balance(), await cardHeld()]).toEqual([11, 6]);
    await sendAccepted(createRefundEvent("pi_1", 1_000));
    expect([await balance(), await cardHeld()]).toEqual([5, 0]);
    expect(await withdraw(5)).toMatchObject({ status: 201 });
  });

  test("A13: AGENT_CARD_HOLD_MS=0 allows card money to be withdrawn at once", async () => {
    await t.close();
    t = await startTestRelay({ ...cardEnv("http://127.0.0.1:1"), AGENT_CARD_HOLD_MS: "0" });
    agent = await t.createAgent();
    await payByCard(t, agent);
    expect(await cardHeld()).toBe(0);
    expect(await withdraw(12.5)).toMatchObject({ status: 201 });
  });

  test("A13: an account without card money withdraws without delay", async () => {
    await t.deposit(agent, 10);
    const worker = await buy(10);
    expect(await withdraw(9.5, worker)).toMatchObject({ status: 201 });
  });
});

/** Returns the level of an agent that a stranger sees. */
const level = async (worker: TestAgent) => {
  const stranger = await t.createAgent();
  const { body } = await t.as(stranger, "GET", `/api/v1/agents/${worker.agentId}`);
  return body["trust_level"];
};

describe("C8: fees that are paid with card money", () => {
  /** Pays two agents with card money, lets each of them pay the worker, and reverses both card payments. */
  const chain = async (worker: TestAgent, waitMs: number) => {
    for (const at of [1, 2]) {
      const funder = await t.createAgent();
      await payByCard(t, funder, { payment: `pi_chain_${at}`, cents: 1_200 });
      await t.clock.advance(waitMs);
      const passedOn = await buy(11.5, funder);
      for (let task = 0; task < 21; task += 1) await buy(0.5, passedOn, worker);
      if (waitMs === 0) await sendAccepted(createRefundEvent(`pi_chain_${at}`, 1_200));
    }
  };

  test("C8: card money that is passed on before it pays a fee, and is then reversed, buys no level", async () => {
    const worker = await createSeller(t, 0.5);
    await chain(worker, 0);
    expect(await level(worker)).toBe("unknown");
    await t.clock.advance(WEEK_MS);
    expect(await level(worker)).toBe("unknown");
  });

  test("C8: card money backs a level once it is released, even if it was passed on before it paid a fee", async () => {
    const worker = await createSeller(t, 0.5);
    await chain(worker, WEEK_MS);
    expect(await level(worker)).toBe("trusted");
  });

  test("C8: fees from other money back a level, even for payers whose card money is still locked", async () => {
    const worker = await createSeller(t, 0.5);
    for (const payer of [agent, await t.createAgent()]) {
      await t.deposit(payer, 11);
      await payByCard(t, payer, { payment: `pi_${payer.agentId}` });
      for (let task = 0; task < 20; task += 1) await buy(0.5, payer, worker);
    }
    expect(await level(worker)).toBe("trusted");
  });

  test("C7, C8: a failed task that holds card money does no more harm than a free one", async () => {
    const worker = await createSeller(t, 2);
    await t.deposit(agent, 6);
    for (let task = 0; task < 2; task += 1) await buy(2, agent, worker);
    const rate = async () => {
      const path = "/api/v1/market/candidates?capability=summarise";
      const { body } = await t.as(await t.createAgent(), "GET", path);
      const [seen] = body["candidates"] as MarketCandidate[];
      return seen?.sub_scores.success_rate;
    };
    const fail = async () => {
      const task = await submitAcceptedTask(t, agent, worker);
      const receipt = createReceipt(worker, task, { status: "failed" });
      expect(await t.as(worker, "POST", `${task.path}/result`, receipt)).toMatchObject({
        status: 200,
      });
    };
    expect(await rate()).toBe(1);
    await t.as(agent, "POST", `/api/v1/agents/${agent.agentId}/withdrawals`, {
      amount: 2,
      destination: "IBAN 1",
    });
    await payByCard(t, agent);
    await fail();
    expect(await rate()).toBe(1);
    await t.clock.advance(WEEK_MS);
    await fail();
    expect(await rate()).toBeCloseTo(2 / 3, 9);
  });
});

describe("C1: fees that were paid with reversed card money", () => {
  test("C1: no level remains after the two payments that bought it are disputed", async () => {
    const worker = await createSeller(t, 0.5);
    const payers = [agent, await t.createAgent()];
    for (const [at, payer] of payers.entries()) {
      await payByCard(t, payer, { payment: `pi_fake_${at}` });
      await t.clock.advance(WEEK_MS);
      for (let task = 0; task < 20; task += 1) await buy(0.5, payer, worker);
    }
    expect(await level(worker)).toBe("trusted");
    for (const at of payers.keys()) await sendAccepted(createRefundEvent(`pi_fake_${at}`, 1_250));
    expect(await level(worker)).toBe("unknown");
  });

  test("C1: payments that are disputed while tasks hold their money buy no level, though the worker is paid", async () => {
    const worker = await createSeller(t, 0.5);
    const payers = [agent, await t.createAgent()];
    for (const [at, payer] of payers.entries()) {
      await payByCard(t, payer, { payment: `pi_held_${at}` });
      await t.clock.advance(WEEK_MS);
      const tasks: Delegation[] = [];
      for (let task = 0; task < 20; task += 1) {
        tasks.push(await submitAcceptedTask(t, payer, worker));
      }
      await sendAccepted(createRefundEvent(`pi_held_${at}`, 1_250));
      expect(await balance(payer)).toBeLessThan(0);
      for (const task of tasks) expect(await deliver(task, worker)).toMatchObject({ status: 200 });
    }
    expect(await balance(worker)).toBe(40 * 0.475);
    expect(await level(worker)).toBe("unknown");
  });

  test("C1: a refund of money that was not yet spent takes back no fee", async () => {
    const worker = await createSeller(t, 0.5);
    const payers = [agent, await t.createAgent()];
    for (const [at, payer] of payers.entries()) {
      await payByCard(t, payer, { payment: `pi_kept_${at}` });
      await t.clock.advance(WEEK_MS);
      for (let task = 0; task < 20; task += 1) await buy(0.5, payer, worker);
    }
    for (const at of payers.keys()) await sendAccepted(createRefundEvent(`pi_kept_${at}`, 250));
    expect(await level(worker)).toBe("trusted");
  });
});
