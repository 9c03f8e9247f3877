import type Stripe from "stripe";
import type { Config } from "../../config/config.ts";

export interface CheckoutRequest {
  readonly agentId: string;
  readonly relayId: string;
  readonly cents: number;
  readonly returnUrl: string;
}

/** The calls that this relay makes to the card processor, through its official library. */
export interface CardProcessor {
  createSession(request: CheckoutRequest): Promise<{ id: string; url: string }>;
  /**
   * Verifies and parses an event from the request's exact text. Undefined when its signature is missing, wrong, or made more
   * than 5 minutes before `now` (ms).
   */
  verifyEvent(
    text: string,
    signature: string,
    secret: string,
    now: number,
  ): Promise<Stripe.Event | undefined>;
}

const SIGNATURE_TOLERANCE_SECONDS = 300;

/** Creates the processor; undefined while no key is configured. The library is loaded on first use. */
export function createCardProcessor({
  cardSecretKey,
  cardApiBase,
}: Config["payments"]): CardProcessor | undefined {
  if (cardSecretKey === undefined) return undefined;
  const key = cardSecretKey;
  let loading: Promise<{ library: typeof Stripe; client: Stripe }> | undefined;

  async function loadLibrary() {
    const { default: library } = await import("stripe");
    const client = new library(key, {
      ...(cardApiBase !== undefined && parseApiBase(cardApiBase)),
      timeout: 20_000,
      maxNetworkRetries: 2,
      telemetry: false,
    });
    return { library, client };
  }
  const getProcessor = () => (loading ??= loadLibrary());

  return {
    async createSession({ agentId, relayId, cents, returnUrl }) {
      const { client } = await getProcessor();
      const metadata = { agent_id: agentId, relay_id: relayId };
      const session = await client.checkout.sessions.create({
        mode: "payment",
        line_items: [
          {
            quantity: 1,
            price_data: {
              currency: "usd",
              unit_amount: cents,
              product_data: { name: "Deposit to an agent's account" },
            },
          },
        ],
        client_reference_id: agentId,
        metadata,
        // This marks the charges of this relay among those of other relays with the same processor account.
        payment_intent_data: { metadata },
        success_url: returnUrl,
        cancel_url: returnUrl,
      });
      if (session.url === null) throw new Error("the session has no page");
      return { id: session.id, url: session.url };
    },
    async verifyEvent(text, signature, secret, now) {
      const { library, client } = await getProcessor();
      try {
        return client.webhooks.constructEvent(
          text,
          signature,
          secret,
          SIGNATURE_TOLERANCE_SECONDS,
          undefined,
          now,
        );
      } catch (error) {
        if (error instanceof library.errors.StripeSignatureVerificationError) return undefined;
        throw error;
      }
    },
  };
}

function parseApiBase(base: string) {
  const { protocol, hostname, port } = new URL(base);
  return {
    protocol: protocol === "http:" ? ("http" as const) : ("https" as const),
    host: hostname,
    ...(port !== "" && { port }),
  };
}
