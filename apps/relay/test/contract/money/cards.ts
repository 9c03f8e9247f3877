import {
  cardEnv,
  createPaidEvent,
  sendEvent,
  startFakeProcessor,
} from "../../payments/card-processor.ts";
import type { TestRelay } from "../../test-relay.ts";
import { withEnv, type Case, type Contract } from "../outcome.ts";

/** No server listens at this address. */
const set = cardEnv("http://127.0.0.1:1");

const checkout = (t: TestRelay, agentId: string, body: object = {}) =>
  t.asOperator("POST", `/api/v1/agents/${agentId}/checkout`, { amount: 1, ...body });

const withProcessor: Case = async () => {
  const processor = await startFakeProcessor();
  const run = withEnv(cardEnv(processor.url), (t) => checkout(t, t.createUnknownAgent().agentId));
  try {
    return await run(undefined as never);
  } finally {
    await processor.close();
  }
};

export const cardsContract: Contract<"createCheckout" | "stripeWebhook"> = {
  createCheckout: {
    201: withProcessor,
    "request.invalid": withEnv(set, (t) => checkout(t, "no-agent")),
    "card.not_configured": (t) => checkout(t, t.createUnknownAgent().agentId),
    "card.amount_unsupported": withEnv(set, (t) =>
      checkout(t, t.createUnknownAgent().agentId, { amount: 0.49 }),
    ),
    "card.return_url_missing": withEnv({ PAYMENT_SECRET_KEY: "sk_test_1" }, (t) =>
      checkout(t, t.createUnknownAgent().agentId),
    ),
    "card.processor_failed": withEnv(set, (t) => checkout(t, t.createUnknownAgent().agentId)),
    "agent.id_reserved": withEnv(set, (t) => checkout(t, t.relay.relayId)),
  },
  stripeWebhook: {
    200: withEnv(set, (t) => sendEvent(t, createPaidEvent(t, t.createUnknownAgent().agentId))),
    "card.not_configured": (t) => sendEvent(t, createPaidEvent(t, t.createUnknownAgent().agentId)),
    "card.signature_invalid": withEnv(set, (t) =>
      sendEvent(t, createPaidEvent(t, t.createUnknownAgent().agentId), { secret: "whsec_another" }),
    ),
    "money.balance_limit": withEnv(set, async (t) => {
      const rich = t.createUnknownAgent();
      for (let i = 0; i < 9; i += 1) await t.deposit(rich, 1e9);
      return sendEvent(t, createPaidEvent(t, rich.agentId));
    }),
  },
};
