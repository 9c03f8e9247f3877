import * as v from "valibot";
import { extensibleEnum, longText, money } from "../../engine/fields.ts";
import { defineOperation } from "../../engine/operation.ts";

/** How the operator saw a payment end: `settled` if the chain has it, `failed` if it never will. */
const Outcome = v.picklist(["settled", "failed"]);

export const payments = {
  resolvePayment: defineOperation({
    method: "POST",
    path: "/api/v1/admin/payments/:paymentId/resolve",
    summary: "Close an undecided x402 payment: credit it, or note that it never came.",
    section: "Operator",
    auth: "master",
    tier: "write",
    keyed: true,
    body: v.object({
      outcome: Outcome,
      reason: v.pipe(longText, v.minLength(1, "must be non-empty")),
    }),
    ok: {
      200: v.object({
        payment_id: v.string(),
        payer_id: v.string(),
        amount: money,
        status: extensibleEnum(Outcome.options),
        reason: v.string(),
      }),
    },
    refusals: ["payment.not_found", "payment.resolved", "money.balance_limit"],
  }),
} as const;
