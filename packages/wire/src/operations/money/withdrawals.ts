import * as v from "valibot";
import {
  amount,
  extensibleEnum,
  longText,
  money,
  nextCursor,
  pageQuery,
  shortText,
} from "../../engine/fields.ts";
import { defineOperation } from "../../engine/operation.ts";

export const WithdrawalStatus = v.picklist(["pending", "completed", "failed"]);
export type WithdrawalStatus = v.InferOutput<typeof WithdrawalStatus>;

/** Money on its way out: it has left the balance, and the operator pays it or gives it back. */
export const Withdrawal = v.object({
  withdrawal_id: v.string(),
  agent_id: v.string(),
  amount: money,
  currency: v.literal("USD"),
  destination: v.string(),
  status: extensibleEnum(WithdrawalStatus.options),
  created_at: v.number(),
  resolved_at: v.nullable(v.number()),
  /** What the operator's payment is known by; only of a completed one. */
  payout_reference: v.nullable(v.string()),
  /** Why it was not paid; only of a failed one. */
  reason: v.nullable(v.string()),
});
export type Withdrawal = v.InferInput<typeof Withdrawal>;

const Withdrawals = v.object({ withdrawals: v.array(Withdrawal), next_cursor: nextCursor });

const nonEmptyText = v.pipe(shortText, v.minLength(1, "has to be non-empty"));

export const withdrawals = {
  requestWithdrawal: defineOperation({
    method: "POST",
    path: "/api/v1/agents/:agentId/withdrawals",
    summary: "Take money out: it leaves the balance at once and waits for the operator.",
    section: "Budget",
    auth: "bearer",
    ownerOnly: true,
    scope: "account:write",
    singleUse: true,
    tier: "write",
    keyed: true,
    body: v.object({ amount, destination: nonEmptyText }),
    ok: { 201: Withdrawal },
    refusals: ["budget.insufficient", "account.overdrawn", "budget.card_hold", "agent.id_reserved"],
  }),
  listWithdrawals: defineOperation({
    method: "GET",
    path: "/api/v1/agents/:agentId/withdrawals",
    summary: "An agent's withdrawals, newest first.",
    section: "Budget",
    auth: "bearer",
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
    summary: "Everybody's withdrawals, newest first; `status=pending` is the operator's work.",
    section: "Operator",
    auth: "master",
    tier: "read",
    query: v.object({ status: v.optional(WithdrawalStatus), ...pageQuery }),
    ok: { 200: Withdrawals },
    refusals: ["request.invalid"],
  }),
  completeWithdrawal: defineOperation({
    method: "POST",
    path: "/api/v1/admin/withdrawals/:withdrawalId/complete",
    summary: "Note that a withdrawal was paid, and by which payment.",
    section: "Operator",
    auth: "master",
    tier: "write",
    keyed: true,
    body: v.object({ payout_reference: nonEmptyText }),
    ok: { 200: Withdrawal },
    refusals: ["withdrawal.not_found", "withdrawal.resolved"],
  }),
  failWithdrawal: defineOperation({
    method: "POST",
    path: "/api/v1/admin/withdrawals/:withdrawalId/fail",
    summary: "Give a withdrawal that could not be paid back to its agent.",
    section: "Operator",
    auth: "master",
    tier: "write",
    keyed: true,
    body: v.object({ reason: v.pipe(longText, v.minLength(1, "has to be non-empty")) }),
    ok: { 200: Withdrawal },
    refusals: ["withdrawal.not_found", "withdrawal.resolved"],
  }),
} as const;
