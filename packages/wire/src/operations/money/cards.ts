import * as v from "valibot";
import { amount, longText, looseObject } from "../../engine/fields.ts";
import { defineOperation } from "../../engine/operation.ts";

export const cards = {
  createCheckout: defineOperation({
    method: "POST",
    path: "/api/v1/agents/:agentId/checkout",
    summary: "Start a card deposit; the response names the page where it is paid.",
    section: "Budget",
    auth: "bearer",
    ownerOnly: true,
    scope: "account:write",
    tier: "write",
    keyed: true,
    singleUse: true,
    body: v.object({
      amount,
      return_url: v.optional(
        v.pipe(longText, v.regex(/^https?:\/\/\S+$/, "must be an http or https URL")),
      ),
    }),
    ok: { 201: v.object({ checkout_url: v.string(), session_id: v.string() }) },
    refusals: [
      "card.not_configured",
      "card.amount_unsupported",
      "card.return_url_missing",
      "card.processor_failed",
      "agent.id_reserved",
    ],
  }),
  stripeWebhook: defineOperation({
    method: "POST",
    path: "/api/v1/webhooks/stripe",
    summary:
      "Receive an event of the card processor: credit a payment, reverse a refund or a dispute.",
    section: "Budget",
    auth: "public",
    tier: "read",
    headers: { "Stripe-Signature": "Required. The processor's signature of the body." },
    body: looseObject,
    rawBody: true,
    ok: { 200: v.object({ received: v.literal(true) }) },
    refusals: ["card.not_configured", "card.signature_invalid", "money.balance_limit"],
  }),
} as const;
