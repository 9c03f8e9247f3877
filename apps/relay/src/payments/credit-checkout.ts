import { asMicro, fromMicro } from "@agent/budget";
import { refuse, type Answer, type Operations } from "@agent/wire";
import type Stripe from "stripe";
import { credit } from "../budget/credit.ts";
import type { Services } from "../services.ts";
import type { CardProcessor } from "./card-processor.ts";
import { takePayment } from "./card-store.ts";
import { CENT } from "./create-checkout.ts";

type Parts = Pick<Services, "storage" | "runtime" | "identity" | "config" | "log">;

const paying: readonly string[] = [
  "checkout.session.completed",
  "checkout.session.async_payment_succeeded",
];

const received = { status: 200, body: { received: true } } as const;

/**
 * Takes an event of the card processor. Credited is what was paid, once per session, whichever of its
 * events comes first and however often; an event that is about no payment to this relay is let pass.
 */
export async function creditCheckout(
  services: Parts,
  processor: CardProcessor | undefined,
  { text, signature }: { readonly text: string; readonly signature: string | null },
): Promise<Answer<Operations["stripeWebhook"]>> {
  const { runtime, config, log } = services;
  const { cardWebhookSecret: secret } = config.payments;
  if (processor === undefined || secret === undefined) return refuse("card.not_configured");
  if (signature === null) return refuse("card.signature_invalid");
  const event = await processor.readEvent(text, signature, secret, runtime.now());
  if (event === undefined) {
    log.warn("card.signature_invalid", {});
    return refuse("card.signature_invalid");
  }
  const payment = paymentIn(services, event);
  return payment === undefined ? received : take(services, payment);
}

interface Payment {
  readonly sessionId: string;
  readonly agentId: string;
  readonly paid: number;
}

/** The payment that an event tells of; undefined when it tells of none to this relay. */
function paymentIn({ identity, log }: Parts, event: Stripe.Event): Payment | undefined {
  if (!paying.includes(event.type)) return undefined;
  const session = event.data.object as Stripe.Checkout.Session;
  const agentId = session.metadata?.["agent_id"];
  // An account of the processor can serve more than this relay.
  if (agentId === undefined || session.metadata?.["relay_id"] !== identity.relayId)
    return undefined;
  if (session.payment_status !== "paid") return undefined;
  const { id: sessionId, currency, amount_total: cents } = session;
  if (currency !== "usd" || !Number.isSafeInteger(cents) || cents === null || cents <= 0) {
    log.error("card.payment_unusable", { correlationId: sessionId, currency, cents });
    return undefined;
  }
  return { sessionId, agentId, paid: cents * CENT };
}

async function take(
  { storage, runtime, log }: Parts,
  { sessionId, agentId, paid }: Payment,
): Promise<Answer<Operations["stripeWebhook"]>> {
  const amount = asMicro(paid);
  const done = await storage.transaction(async (tx) => {
    const payment = { session_id: sessionId, agent_id: agentId, paid, now: runtime.now() };
    if (!(await takePayment(tx, payment))) return { ok: true as const, isNew: false };
    const reference = `stripe:${sessionId}`;
    const credited = await credit(tx, runtime, {
      agentId,
      amount,
      reference,
      description: "card deposit",
    });
    return credited.ok ? { ok: true as const, isNew: true } : credited;
  });
  if (!done.ok) {
    log.error("card.credit_refused", { correlationId: sessionId, code: done.code });
    return done;
  }
  if (done.isNew) {
    const dollars = fromMicro(amount);
    log.info("card.credited", { correlationId: sessionId, agent_id: agentId, amount: dollars });
  }
  return received;
}
