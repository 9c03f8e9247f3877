import * as v from "valibot";
import { describeAs } from "../../engine/annotate-schema.ts";
import {
  amount,
  extensibleEnum,
  money,
  nextCursor,
  nonEmptyLongText,
  nonEmptyShortText,
  pageQuery,
  wholeNumber,
} from "../../engine/fields.ts";
import { defineOperation } from "../../engine/operation.ts";

export const WithdrawalStatus = v.picklist(["pending", "completed", "failed"]);
export type WithdrawalStatus = v.InferOutput<typeof WithdrawalStatus>;

/** A withdrawal has left the balance; the operator pays it or returns it to the balance. */
export const Withdrawal = v.object({
  withdrawal_id: v.string(),
  agent_id: v.string(),
  amount: describeAs(money, "The amount that left the balance, in USD."),
  currency: v.literal("USD"),
  destination: describeAs(v.string(), "The destination of the money, as the agent wrote it."),
  status: describeAs(extensibleEnum(WithdrawalStatus.options), "The state of the withdrawal."),
  created_at: wholeNumber,
  resolved_at: v.nullable(wholeNumber),
  payout_reference: describeAs(
    v.nullable(v.string()),
    "The reference of the operator's payment; null unless it is completed.",
  ),
  reason: describeAs(
    v.nullable(v.string()),
    "The reason why it was not paid; null unless it failed.",
  ),
  account_owes: describeAs(
    v.optional(money),
    "In the operator's list: what the account owes now because a card payment was reversed, in USD.",
  ),
  agent_revoked_at: describeAs(
    v.optional(v.nullable(wholeNumber)),
    "In the operator's list: the time at which the agent was revoked after this request, or null.",
  ),
});
export type Withdrawal = v.InferInput<typeof Withdrawal>;

const Withdrawals = v.object({
  withdrawals: describeAs(v.array(Withdrawal), "The withdrawals, newest first."),
  next_cursor: nextCursor,
});

export const withdrawals = {
  requestWithdrawal: defineOperation({
    method: "POST",
    path: "/api/v1/agents/:agentId/withdrawals",
    summary:
      "Request a withdrawal; the amount leaves the balance at once and waits for the operator.",
    section: "Budget",
    auth: "bearer",
    ownerOnly: true,
    scope: "account:write",
    singleUse: true,
    tier: "write",
    keyed: true,
    body: v.object({
      amount: describeAs(amount, "The amount to withdraw, in USD."),
      destination: describeAs(nonEmptyShortText, "The destination of the money."),
    }),
    ok: { 201: Withdrawal },
    refusals: [
      "budget.insufficient",
      "account.overdrawn",
      "budget.card_hold",
      "agent.id_reserved",
      "withdrawal.too_many",
    ],
  }),
  listWithdrawals: defineOperation({
    method: "GET",
    path: "/api/v1/agents/:agentId/withdrawals",
    summary: "List an agent's withdrawals, newest first.",
    section: "Budget",
    auth: "bearer",
    audited: "never",
    ownerOnly: true,
    scope: "account:read",
    tier: "read",
    query: v.object(pageQuery),
    ok: { 200: Withdrawals },
    refusals: ["request.invalid"],
  }),
  listAllWithdrawals: defineOperation({
    method: "GET",
    path: "/api/v1/admin/withdrawals",
    summary:
      "List the withdrawals of all agents, newest or largest first; `status=pending` are those to be paid.",
    section: "Operator",
    auth: "master",
    tier: "read",
    query: v.object({
      status: describeAs(v.optional(WithdrawalStatus), "Only withdrawals in this state."),
      sort: describeAs(
        v.optional(v.picklist(["newest", "amount"])),
        "The order: newest first, or with `amount` the largest in one state first, pending without a `status`.",
      ),
      ...pageQuery,
    }),
    ok: { 200: Withdrawals },
    refusals: ["request.invalid"],
  }),
  completeWithdrawal: defineOperation({
    method: "POST",
    path: "/api/v1/admin/withdrawals/:withdrawalId/complete",
    summary: "Mark a withdrawal as paid and record the reference of the payment.",
    section: "Operator",
    auth: "master",
    tier: "write",
    keyed: true,
    body: v.object({ payout_reference: nonEmptyShortText }),
    ok: { 200: Withdrawal },
    refusals: ["withdrawal.not_found", "withdrawal.resolved"],
  }),
  failWithdrawal: defineOperation({
    method: "POST",
    path: "/api/v1/admin/withdrawals/:withdrawalId/fail",
    summary: "Mark a withdrawal as failed and return its amount to the agent.",
    section: "Operator",
    auth: "master",
    tier: "write",
    keyed: true,
    body: v.object({ reason: describeAs(nonEmptyLongText, "The reason why it is not paid.") }),
    ok: { 200: Withdrawal },
    refusals: ["withdrawal.not_found", "withdrawal.resolved"],
  }),
} as const;
