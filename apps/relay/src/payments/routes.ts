import type { Handlers } from "../http/handler.ts";
import type { Services } from "../services.ts";
import { createCardProcessor } from "./cards/card-processor.ts";
import { createCheckout } from "./cards/create-checkout.ts";
import { resolvePayment } from "./resolve-payment.ts";
import { receiveCardEvent } from "./cards/receive-card-event.ts";

type PaymentHandlers = Pick<Handlers, "createCheckout" | "stripeWebhook" | "resolvePayment">;

export function paymentHandlers(services: Services): PaymentHandlers {
  const processor = createCardProcessor(services.config.payments);
  return {
    createCheckout: ({ params, body }, { saveResponse }) =>
      createCheckout(services, processor, { agentId: params.agentId, body, saveResponse }),
    resolvePayment: ({ params, body }, { saveResponse }) =>
      resolvePayment(services, params.paymentId, body, saveResponse),
    stripeWebhook: (_, { text, headers }) =>
      receiveCardEvent(services, processor, { text, signature: headers.get("stripe-signature") }),
  };
}
