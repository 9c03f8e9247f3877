import {
  createReceipt,
  startLoopbackServer,
  type LoopbackServer,
  type TestAgent,
} from "@agent/testkit";
import Stripe from "stripe";
import { submitAcceptedTask, createSeller } from "../market.ts";
import type { Reply, TestRelay } from "../test-relay.ts";

const WEBHOOK_SECRET = "whsec_test_0123456789";

/** Builds the configuration of a relay that calls a processor at `url`. */
export const cardEnv = (url: string) => ({
  PAYMENT_SECRET_KEY: "sk_test_0123456789",
  PAYMENT_WEBHOOK_SECRET: WEBHOOK_SECRET,
  PAYMENT_API_BASE: url,
  AGENT_BASE_URL: "http://relay.test",
});

export interface FakeProcessor extends LoopbackServer {
  /** The form of each requested session. */
  readonly sessions: URLSearchParams[];
  /** Sets the status of all later answers. */
  setStatus(status: number): void;
}

/** Starts the part of the processor's API that the relay needs, on a local port. */
export async function startFakeProcessor(): Promise<FakeProcessor> {
  const sessions: URLSearchParams[] = [];
  let status = 200;
  const server = await startLoopbackServer((request, response) => {
    let text = "";
    request.on("data", (chunk: Buffer) => (text += chunk.toString()));
    request.on("end", () => {
      const isSession = request.method === "POST" && request.url === "/v1/checkout/sessions";
      if (isSession && status === 200) sessions.push(new URLSearchParams(text));
      const id = `cs_test_${sessions.length}`;
      const body =
        isSession && status === 200
          ? { id, object: "checkout.session", url: `https://pay.example/${id}` }
          : { error: { type: "api_error", message: "no" } };
      response.writeHead(isSession ? status : 404, { "content-type": "application/json" });
      response.end(JSON.stringify(body));
    });
  });
  return {
    ...server,
    sessions,
    setStatus(next) {
      status = next;
    },
  };
}

/** Builds an event about a session of the agent at this relay; `session` and `type` override members. */
export function createPaidEvent(
  t: Pick<TestRelay, "relay">,
  agentId: string,
  {
    type = "checkout.session.completed",
    ...session
  }: { readonly type?: string; readonly [member: string]: unknown } = {},
): string {
  return JSON.stringify({
    id: "evt_1",
    object: "event",
    api_version: "2026-01-01",
    type,
    data: {
      object: {
        id: "cs_test_1",
        object: "checkout.session",
        currency: "usd",
        amount_total: 1_250,
        payment_status: "paid",
        metadata: { agent_id: agentId, relay_id: t.relay.relayId },
        ...session,
      },
    },
  });
}

/** Builds an event about an object of the processor, as the processor's library declares it. */
function formatEvent(type: string, object: object, created: number): string {
  const id = `evt_${created}`;
  return JSON.stringify({
    id,
    object: "event",
    api_version: "2026-01-01",
    created,
    type,
    data: { object },
  });
}

/** Builds an event of a refund; `cents` is the total refunded part of the payment. */
export const createRefundEvent = (payment: string, cents: number, change: object = {}): string =>
  formatEvent(
    "charge.refunded",
    {
      id: `ch_${payment}`,
      object: "charge",
      currency: "usd",
      amount_refunded: cents,
      payment_intent: payment,
      metadata: {},
      ...change,
    },
    1,
  );

/** Builds the event of a refund that failed to reach the card. */
export const createFailedRefundEvent = (payment: string, cents: number): string =>
  formatEvent(
    "refund.failed",
    {
      id: `re_${payment}`,
      object: "refund",
      currency: "usd",
      amount: cents,
      payment_intent: payment,
      status: "failed",
    },
    2,
  );

export interface DisputeInput {
  readonly id?: string;
  readonly type?: "created" | "closed" | "updated" | "funds_withdrawn" | "funds_reinstated";
  readonly status?: string;
  readonly created?: number;
  readonly [member: string]: unknown;
}

/** Builds an event of a dispute over `cents` of a payment. */
export function createDisputeEvent(
  payment: string,
  cents: number,
  {
    id = "dp_1",
    type = "created",
    status = "needs_response",
    created = 1,
    ...change
  }: DisputeInput = {},
): string {
  const dispute = {
    id,
    object: "dispute",
    currency: "usd",
    amount: cents,
    status,
    charge: `ch_${payment}`,
    payment_intent: payment,
    ...change,
  };
  return formatEvent(`charge.dispute.${type}`, dispute, created);
}

/** Pays by card as the agent, by sending the processor's event. */
export async function payByCard(
  t: TestRelay,
  { agentId }: Pick<TestAgent, "agentId">,
  { cents = 1_250, payment = "pi_1" } = {},
): Promise<void> {
  const session = { id: `cs_${payment}`, amount_total: cents, payment_intent: payment };
  const reply = await sendEvent(t, createPaidEvent(t, agentId, session));
  if (reply.status !== 200) throw new Error(JSON.stringify(reply.body));
}

/** Leaves the agent with a debt of 10: it paid by card, spent the money and then reversed the payment. */
export async function overdrawAccount(t: TestRelay, agent: TestAgent): Promise<void> {
  await payByCard(t, agent, { cents: 1_000 });
  const worker = await createSeller(t, 10);
  const task = await submitAcceptedTask(t, agent, worker);
  await t.as(worker, "POST", `${task.path}/result`, createReceipt(worker, task));
  await sendEvent(t, createDisputeEvent("pi_1", 1_000));
}

/** Sends an event as the processor does, signed by its library with the time `at` (ms). */
export function sendEvent(
  t: TestRelay,
  payload: string,
  { at = t.clock.now(), secret = WEBHOOK_SECRET, sent = payload } = {},
): Promise<Reply> {
  const signature = Stripe.webhooks.generateTestHeaderString({
    payload,
    secret,
    timestamp: Math.floor(at / 1_000),
  });
  return t.request("POST", "/api/v1/webhooks/stripe", {
    raw: sent,
    headers: { "stripe-signature": signature },
  });
}
