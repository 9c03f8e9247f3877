import * as v from "valibot";
import { describeAs } from "../../engine/annotate-schema.ts";
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
      amount: describeAs(amount, "The amount to deposit, in USD."),
      return_url: describeAs(
        v.optional(v.pipe(longText, v.regex(/^https?:\/\/\S+$/, "must be an http or https URL"))),
        "The http or https address to which the payment page returns.",
      ),
    }),
    ok: {
      201: v.object({
        checkout_url: describeAs(v.string(), "The address of the page where the deposit is paid."),
        session_id: describeAs(v.string(), "The id of the checkout session at the card processor."),
      }),
    },
    refusals: [
      "request.invalid",
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
    ok: {
      200: v.object({
        received: describeAs(v.literal(true), "Always true: the event was received."),
      }),
    },
    refusals: ["card.not_configured", "card.signature_invalid", "money.balance_limit"],
  }),
} as const;
