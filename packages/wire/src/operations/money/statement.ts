import * as v from "valibot";
import { Transaction } from "./budget.ts";
import { money, timeText, wholeNumber } from "../../engine/fields.ts";
import { defineOperation } from "../../engine/operation.ts";

/** The movements of an account in a period; `opening_balance` plus the amounts is `closing_balance`. */
export const Statement = v.object({
  agent_id: v.string(),
  currency: v.literal("USD"),
  from: wholeNumber,
  to: wholeNumber,
  opening_balance: money,
  transactions: v.array(Transaction),
  closing_balance: money,
});
export type Statement = v.InferInput<typeof Statement>;

export const statement = {
  getStatement: defineOperation({
    method: "GET",
    path: "/api/v1/agents/:agentId/statement",
    summary:
      "Get an account's transactions from `from` (inclusive) to `to` (exclusive), oldest first, in " +
      "milliseconds since the epoch; by default all up to now. `format=csv` returns CSV.",
    section: "Budget",
    auth: "bearer",
    ownerOnly: true,
    scope: "account:read",
    tier: "expensive",
    query: v.object({
      from: v.optional(timeText),
      to: v.optional(timeText),
      format: v.optional(v.picklist(["json", "csv"])),
    }),
    media: ["text/csv"],
    ok: { 200: Statement },
    refusals: ["statement.too_long"],
  }),
} as const;
