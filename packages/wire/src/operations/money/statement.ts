import * as v from "valibot";
import { describeAs } from "../../engine/annotate-schema.ts";
import { Transaction } from "./budget.ts";
import { money, nextCursor, pageQuery, timeText, wholeNumber } from "../../engine/fields.ts";
import { defineOperation } from "../../engine/operation.ts";

/**
 * The movements of an account in a period, or a page of them; `opening_balance` plus the amounts is
 * `closing_balance`, which is the `opening_balance` of the next page.
 */
export const Statement = v.object({
  agent_id: v.string(),
  currency: v.literal("USD"),
  from: describeAs(
    wholeNumber,
    "The beginning of the period, in ms since the Unix epoch, inclusive.",
  ),
  to: describeAs(wholeNumber, "The end of the period, in ms since the Unix epoch, exclusive."),
  opening_balance: describeAs(money, "The balance before the first of the transactions, in USD."),
  transactions: describeAs(v.array(Transaction), "Transactions of the period, oldest first."),
  closing_balance: describeAs(
    money,
    "The balance after the last of the transactions, in USD: `opening_balance` plus the amounts.",
  ),
  /** Absent from the answers of older relays, which had no pages. */
  next_cursor: v.optional(nextCursor),
});
export type Statement = v.InferInput<typeof Statement>;

export const statement = {
  getStatement: defineOperation({
    method: "GET",
    path: "/api/v1/agents/:agentId/statement",
    summary:
      "Get an account's transactions from `from` (inclusive) to `to` (exclusive), oldest first, in " +
      "milliseconds since the epoch; by default all up to now. `format=csv` returns CSV, which has no pages.",
    section: "Budget",
    auth: "bearer",
    audited: "never",
    ownerOnly: true,
    scope: "account:read",
    tier: "expensive",
    query: v.object({
      from: describeAs(
        v.optional(timeText),
        "The beginning of the period, in ms since the Unix epoch, inclusive; the first transaction if absent.",
      ),
      to: describeAs(
        v.optional(timeText),
        "The end of the period, in ms since the Unix epoch, exclusive; now if absent.",
      ),
      cursor: pageQuery.cursor,
      format: describeAs(
        v.optional(v.picklist(["json", "csv"])),
        "The format of the answer; `json` by default.",
      ),
    }),
    media: ["text/csv"],
    ok: { 200: Statement },
    refusals: ["statement.too_long", "request.invalid"],
  }),
} as const;
