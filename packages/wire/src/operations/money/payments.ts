import * as v from "valibot";
import { describeAs } from "../../engine/annotate-schema.ts";
import { extensibleEnum, money, nonEmptyLongText } from "../../engine/fields.ts";
import { defineOperation } from "../../engine/operation.ts";

/** The outcome of a payment: `settled` if it is on the chain, `failed` if it never will be. */
const Outcome = v.picklist(["settled", "failed"]);

export const payments = {
  resolvePayment: defineOperation({
    method: "POST",
    path: "/api/v1/admin/payments/:paymentId/resolve",
    summary: "Resolve an undecided x402 payment as settled, which credits it, or as failed.",
    section: "Operator",
    auth: "master",
    tier: "write",
    keyed: true,
    body: v.object({
      outcome: describeAs(
        Outcome,
        "The outcome of the payment: `settled` if it is on the chain, `failed` if it never will be.",
      ),
      reason: describeAs(nonEmptyLongText, "The reason for this decision."),
    }),
    ok: {
      200: v.object({
        payment_id: v.string(),
        payer_id: v.string(),
        amount: money,
        status: describeAs(extensibleEnum(Outcome.options), "The outcome of the payment."),
        reason: describeAs(v.string(), "The reason for this decision."),
      }),
    },
    refusals: ["payment.not_found", "payment.resolved", "money.balance_limit"],
  }),
} as const;
