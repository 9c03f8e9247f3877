import type { TestAgent } from "@agent/testkit";
import { limits } from "@agent/wire";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import {
  cardEnv,
  createPaidEvent,
  createRefundEvent,
  sendEvent,
  startFakeProcessor,
  type FakeProcessor,
} from "../../test/payments/card-processor.ts";
import { expectConsistentBooks } from "../../test/market.ts";
import { startTestRelay, type TestRelay } from "../../test/test-relay.ts";

let processor: FakeProcessor;
let t: TestRelay;
let agent: TestAgent;
beforeAll(async () => {
  processor = await startFakeProcessor();
});
afterAll(() => processor.close());
beforeEach(async () => {
  t = await startTestRelay(cardEnv(processor.url));
  agent = await t.createAgent();
});
afterEach(() => t.close());

const checkout = (body: object) =>
  t.as(agent, "POST", `/api/v1/agents/${agent.agentId}/checkout`, body);
const event = (session: Record<string, unknown> = {}) => createPaidEvent(t, agent.agentId, session);
const received = { status: 200, body: { received: true } };

describe("Checkouts", () => {
  test("a checkout creates a page of the processor for the amount and credits nothing yet", async () => {
    const { status, body } = await checkout({ amount: 12.5, return_url: "https://shop.example/x" });
    expect(status).toBe(201);
    const id = body["session_id"] as string;
    expect(body["checkout_url"]).toBe(`https://pay.example/${id}`);
    const asked = Object.fromEntries(processor.sessions.at(-1) ?? []);
    expect(asked).toMatchObject({
      mode: "payment",
      "line_items[0][price_data][unit_amount]": "1250",
      "line_items[0][price_data][currency]": "usd",
      "metadata[agent_id]": agent.agentId,
      "metadata[relay_id]": t.relay.relayId,
      success_url: "https://shop.example/x",
    });
    expect(await t.getBalance(agent)).toBe(0);
  });

  test.each([
    [0.49, 400],
    [0.5, 201],
    [1.005, 400],
    [999_999.99, 201],
    [1_000_000, 400],
    [-1, 400],
  ])("a checkout of %d is answered with %i", async (amount, status) => {
    expect(await checkout({ amount })).toMatchObject({ status });
  });

  test("a checkout that the processor refuses is answered with 502, and the processor's text is only logged", async () => {
    processor.setStatus(402);
    const reply = await checkout({ amount: 1 });
    processor.setStatus(200);
    expect(reply).toMatchObject({ status: 502, body: { code: "card.processor_failed" } });
    expect(t.listLogged("card.checkout_failed")).toHaveLength(1);
    expect(t.lines.join("")).not.toContain("sk_test");
  });

  test("a checkout for another agent is refused", async () => {
    const path = `/api/v1/agents/${agent.agentId}/checkout`;
    expect(await t.as(await t.createAgent(), "POST", path, { amount: 1 })).toMatchObject({
      status: 403,
    });
  });
});

test.each(["no-agent", "x402:me", "upper"])(
  "A14: a checkout for the id %j, which no agent can have, is refused",
  async (id) => {
    const agentId = id === "upper" ? agent.agentId.toUpperCase() : id;
    const before = processor.sessions.length;
    const reply = await t.asOperator("POST", `/api/v1/agents/${agentId}/checkout`, { amount: 1 });
    expect(reply).toMatchObject({ status: 400, body: { issues: [{ path: "agentId" }] } });
    expect(processor.sessions.length).toBe(before);
  },
);

describe("Payments that the operator credits before their event arrives", () => {
  const deposit = (reference: string) =>
    t.asOperator("POST", `/api/v1/agents/${agent.agentId}/deposit`, { amount: 12.5, reference });

  test("MN3: a payment that the operator credited under its reference is not credited again", async () => {
    expect(await deposit("stripe:cs_test_1")).toMatchObject({ body: { idempotent: false } });
    for (let sent = 0; sent < 2; sent += 1) {
      expect(await sendEvent(t, event())).toMatchObject(received);
    }
    expect(await t.getBalance(agent)).toBe(12.5);
    expect(t.listLogged("card.credited_before")).toMatchObject([{ correlationId: "cs_test_1" }]);
    expect(t.listLogged("card.credited")).toEqual([]);
    await expectConsistentBooks(t, { deposits: 12.5 });
  });

  test("MN3: the refund of a payment that was credited by hand is debited", async () => {
    await deposit("stripe:cs_test_1");
    await sendEvent(t, event({ payment_intent: "pi_1" }));
    await sendEvent(t, createRefundEvent("pi_1", 1_250));
    expect(await t.getBalance(agent)).toBe(0);
    await expectConsistentBooks(t, { deposits: 0, card_reversals: 12.5 });
  });

  test("MN3: a deposit under the reference of a credited payment credits nothing", async () => {
    await sendEvent(t, event());
    expect(await deposit("stripe:cs_test_1")).toMatchObject({ body: { idempotent: true } });
    expect(await deposit("stripe:cs_test_2")).toMatchObject({ body: { idempotent: false } });
    expect(await t.getBalance(agent)).toBe(25);
  });
});

describe("Card money that the operator credits", () => {
  const deposit = (reference?: string) =>
    t.asOperator("POST", `/api/v1/agents/${agent.agentId}/deposit`, { amount: 12.5, reference });
  const withdraw = () =>
    t.as(agent, "POST", `/api/v1/agents/${agent.agentId}/withdrawals`, {
      amount: 12.5,
      destination: "IBAN 1",
    });
  const cardHeld = async () =>
    (await t.as(agent, "GET", `/api/v1/agents/${agent.agentId}/balance`)).body["card_held"];

  test("MN33: a card payment that the operator credited under its reference waits like one credited by its event", async () => {
    await deposit("stripe:cs_test_1");
    expect(await cardHeld()).toBe(12.5);
    const refused = { status: 402, body: { code: "budget.card_hold" } };
    expect(await withdraw()).toMatchObject(refused);
    await t.clock.advance(limits.cardHoldMs - 1);
    expect(await withdraw()).toMatchObject(refused);
    await t.clock.advance(1);
    expect(await withdraw()).toMatchObject({ status: 201 });
  });

  test.each(["invoice 17", "Stripe:cs_test_1", undefined])(
    "MN33: other money, credited under the reference %j, can be withdrawn at once",
    async (reference) => {
      await deposit(reference);
      expect(await cardHeld()).toBe(0);
      expect(await withdraw()).toMatchObject({ status: 201 });
    },
  );

  test.each([0, 86_400_000])(
    "MN33: the refund of a payment that was credited by hand %i ms before its event takes its own money",
    async (ms) => {
      await checkout({ amount: 12.5 });
      const id = `cs_test_${processor.sessions.length}`;
      await deposit(`stripe:${id}`);
      await deposit("invoice 17");
      await t.clock.advance(ms);
      await sendEvent(t, event({ id, payment_intent: "pi_1" }));
      expect(await cardHeld()).toBe(12.5);
      await sendEvent(t, createRefundEvent("pi_1", 1_250));
      expect([await t.getBalance(agent), await cardHeld()]).toEqual([12.5, 0]);
      expect(await withdraw()).toMatchObject({ status: 201 });
    },
  );

  test("MN33: a payment that the operator credited to another account is credited to its own, and reversed there", async () => {
    const other = await t.createAgent();
    const body = { amount: 12.5, reference: "stripe:cs_test_1" };
    await t.asOperator("POST", `/api/v1/agents/${other.agentId}/deposit`, body);
    await t.clock.advance(1_000);
    await sendEvent(t, event({ payment_intent: "pi_1" }));
    expect([await t.getBalance(agent), await cardHeld()]).toEqual([12.5, 12.5]);
    await sendEvent(t, createRefundEvent("pi_1", 1_250));
    expect([await t.getBalance(agent), await t.getBalance(other)]).toEqual([0, 12.5]);
  });
});

describe("Payments reported by the processor", () => {
  test("the relay credits the amount that was paid, not the requested one", async () => {
    await checkout({ amount: 20 });
    const id = `cs_test_${processor.sessions.length}`;
    expect(await sendEvent(t, event({ id, amount_total: 1_250 }))).toMatchObject(received);
    expect(await t.getBalance(agent)).toBe(12.5);
    await expectConsistentBooks(t, { deposits: 12.5, balances: 12.5 });
  });

  test("the relay credits a payment once, however often and by whatever event it is reported", async () => {
    const types = [
      "checkout.session.async_payment_succeeded",
      "checkout.session.completed",
      "checkout.session.async_payment_succeeded",
    ];
    for (const type of types) expect(await sendEvent(t, event({ type }))).toMatchObject(received);
    await Promise.all(types.map((type) => sendEvent(t, event({ type, id: "cs_test_x" }))));
    expect(await t.getBalance(agent)).toBe(25);
    await expectConsistentBooks(t, { deposits: 25 });
  });

  test("the relay credits a payment whose event arrives before the answer that names its session", async () => {
    const id = `cs_test_${processor.sessions.length + 1}`;
    await sendEvent(t, event({ id }));
    expect(await checkout({ amount: 12.5 })).toMatchObject({ body: { session_id: id } });
    await sendEvent(t, event({ id }));
    expect(await t.getBalance(agent)).toBe(12.5);
  });

  test("the relay credits a payment only once it is paid", async () => {
    expect(await sendEvent(t, event({ payment_status: "unpaid" }))).toMatchObject(received);
    expect(await t.getBalance(agent)).toBe(0);
    const type = "checkout.session.async_payment_succeeded";
    await sendEvent(t, event({ type }));
    expect(await t.getBalance(agent)).toBe(12.5);
    // The earlier event is delivered late.
    await sendEvent(t, event({ payment_status: "unpaid" }));
    expect(await t.getBalance(agent)).toBe(12.5);
  });

  test.each<[string, Record<string, unknown>]>([
    ["of another type", { type: "checkout.session.expired" }],
    ["that failed", { type: "checkout.session.async_payment_failed", payment_status: "unpaid" }],
    ["of another relay", { metadata: { agent_id: "a", relay_id: "another" } }],
    ["of something else that the account sells", { metadata: {} }],
    ["without metadata", { metadata: null }],
    ["in another currency", { currency: "eur" }],
    ["of zero", { amount_total: 0 }],
    ["without an amount", { amount_total: null }],
    ["of half a cent", { amount_total: 0.5 }],
  ])("the relay ignores a payment %s", async (_, session) => {
    expect(await sendEvent(t, event(session))).toMatchObject(received);
    expect(await t.getBalance(agent)).toBe(0);
    await expectConsistentBooks(t, { deposits: 0 });
  });

  test("the relay refuses events while the relay is frozen and credits the payment when its event is sent again", async () => {
    await t.asOperator("POST", "/api/v1/admin/freeze", { reason: "an audit" });
    expect(await sendEvent(t, event())).toMatchObject({ status: 503 });
    await t.asOperator("POST", "/api/v1/admin/unfreeze");
    expect(await sendEvent(t, event())).toMatchObject(received);
    expect(await t.getBalance(agent)).toBe(12.5);
  });
});

describe("Signatures of events", () => {
  const at = (seconds: number) => ({ at: t.clock.now() + seconds * 1_000 });

  test.each<[string, () => Parameters<typeof sendEvent>[2]]>([
    ["signed with another secret", () => ({ secret: "whsec_another" })],
    ["that was changed after signing", () => ({ sent: event({ amount_total: 999_999 }) })],
    ["with another spacing", () => ({ sent: event().replace(":", ": ") })],
    ["older than 5 minutes", () => at(-301)],
  ])("the relay refuses an event %s", async (_, options) => {
    const reply = await sendEvent(t, event(), options());
    expect(reply).toMatchObject({ status: 400, body: { code: "card.signature_invalid" } });
    expect(await t.getBalance(agent)).toBe(0);
  });

  test("the relay refuses an event without a signature", async () => {
    const reply = await t.request("POST", "/api/v1/webhooks/stripe", { raw: event() });
    expect(reply).toMatchObject({ status: 400, body: { code: "card.signature_invalid" } });
    expect(await t.getBalance(agent)).toBe(0);
  });

  test("the relay accepts an event that is 5 minutes old", async () => {
    expect(await sendEvent(t, event(), at(-300))).toMatchObject(received);
    expect(await t.getBalance(agent)).toBe(12.5);
  });
});

test("events without their secret, and all card requests without a key, are answered with 501", async () => {
  const { PAYMENT_SECRET_KEY } = cardEnv(processor.url);
  const half = await startTestRelay({ PAYMENT_SECRET_KEY });
  expect(await sendEvent(half, createPaidEvent(half, agent.agentId))).toMatchObject({
    status: 501,
  });
  await half.close();
  const none = await startTestRelay();
  expect(await sendEvent(none, createPaidEvent(none, agent.agentId))).toMatchObject({
    status: 501,
  });
  const path = `/api/v1/agents/${agent.agentId}/checkout`;
  expect(await none.asOperator("POST", path, { amount: 1 })).toMatchObject({ status: 501 });
  await none.close();
});
