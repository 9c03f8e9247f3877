import { cardEnv, eventOf, sendEvent, startProcessor } from "../card-processor.ts";
import type { TestRelay } from "../test-relay.ts";
import { configured, type Case, type Contract } from "./outcome.ts";

/** Nothing listens there. */
const set = cardEnv("http://127.0.0.1:1");

const checkout = (t: TestRelay, agentId: string, body: object = {}) =>
  t.asMaster("POST", `/api/v1/agents/${agentId}/checkout`, { amount: 1, ...body });

const withProcessor: Case = async () => {
  const processor = await startProcessor();
  const run = configured(cardEnv(processor.url), (t) => checkout(t, t.stranger().agentId));
  try {
    return await run(undefined as never);
  } finally {
    await processor.close();
  }
};

export const cardsContract: Contract<"createCheckout" | "stripeWebhook"> = {
  createCheckout: {
    201: withProcessor,
    "card.not_configured": (t) => checkout(t, t.stranger().agentId),
    "card.amount_unsupported": configured(set, (t) =>
      checkout(t, t.stranger().agentId, { amount: 0.49 }),
    ),
    "card.return_url_missing": configured({ PAYMENT_SECRET_KEY: "sk_test_1" }, (t) =>
      checkout(t, t.stranger().agentId),
    ),
    "card.processor_failed": configured(set, (t) => checkout(t, t.stranger().agentId)),
    "agent.id_reserved": configured(set, (t) => checkout(t, t.relay.relayId)),
  },
  stripeWebhook: {
    200: configured(set, (t) => sendEvent(t, eventOf(t, t.stranger().agentId))),
    "card.not_configured": (t) => sendEvent(t, eventOf(t, t.stranger().agentId)),
    "card.signature_invalid": configured(set, (t) =>
      sendEvent(t, eventOf(t, t.stranger().agentId), { secret: "whsec_another" }),
    ),
    "money.balance_limit": configured(set, async (t) => {
      const rich = t.stranger();
      for (let i = 0; i < 9; i += 1) await t.deposit(rich, 1e9);
      return sendEvent(t, eventOf(t, rich.agentId));
    }),
  },
};
