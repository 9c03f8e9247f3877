import { transactionTypes } from "@agent/budget";
import * as v from "valibot";
import { describeAs } from "../../engine/annotate-schema.ts";
import {
  amount,
  currency,
  extensibleEnum,
  money,
  nextCursor,
  nonEmptyShortText,
  pageQuery,
  shortText,
  wholeNumber,
} from "../../engine/fields.ts";
import { defineOperation } from "../../engine/operation.ts";

/** One row of an account's history; amounts are signed, so that they sum to the balance. */
export const Transaction = v.object({
  transaction_id: v.string(),
  agent_id: v.string(),
  type: extensibleEnum(transactionTypes),
  amount: money,
  balance_after: money,
  reference_id: v.nullable(v.string()),
  description: v.nullable(v.string()),
  created_at: wholeNumber,
});
export type Transaction = v.InferInput<typeof Transaction>;

export const Balance = v.object({
  agent_id: v.string(),
  balance: money,
  currency: v.literal("USD"),
  pending_withdrawals: money,
  pending_allocations: money,
  /** The part of the balance that came from a card and cannot be withdrawn yet. */
  card_held: v.optional(money),
  transactions: v.array(Transaction),
});
export type Balance = v.InferInput<typeof Balance>;

/** A settlement record, signed by the relay like a receipt. */
export const Settlement = v.object({
  settlement_id: v.string(),
  allocation_id: v.string(),
  task_id: v.string(),
  receipt_hash: v.string(),
  ledger_hash: v.nullable(v.string()),
  amount_settled: money,
  fee: money,
  net: money,
  payer_id: v.string(),
  payee_id: v.string(),
  status: extensibleEnum(["completed", "partial", "refunded"]),
  settled_at: wholeNumber,
  /** Only of an inspected task: the SHA-256 of the outcome of its inspection, without the signature. */
  outcome_hash: v.optional(v.string()),
  /** The transaction and the chain of the x402 payment that was sent with the task. */
  x402_tx_hash: v.optional(v.string()),
  x402_network: v.optional(v.string()),
  issuer: v.string(),
  suite: v.string(),
  signature: v.string(),
});
export type Settlement = v.InferInput<typeof Settlement>;

/** An account as the operator sees it. */
export const AccountSummary = v.object({
  agent_id: v.string(),
  balance: money,
  /** The sum of the holds of tasks that have not been settled. */
  held: money,
  pending_withdrawals: money,
  /** The part of the balance that came from a card and cannot be withdrawn yet. */
  card_held: v.optional(money),
  /** False for an id that no agent has registered or bootstrapped, for example a mistyped one. */
  agent_known: v.boolean(),
  /** The time of its last movement; null before the first one. */
  last_at: v.optional(v.nullable(wholeNumber)),
});
export type AccountSummary = v.InferOutput<typeof AccountSummary>;

const DepositBody = v.object({
  amount,
  currency: v.optional(currency, "USD"),
  reference: v.optional(nonEmptyShortText),
  description: v.optional(shortText),
});

export const budget = {
  getBalance: defineOperation({
    method: "GET",
    path: "/api/v1/agents/:agentId/balance",
    summary: "Get an agent's balance with its newest 50 transactions.",
    section: "Budget",
    auth: "bearer",
    ownerOnly: true,
    scope: "account:read",
    tier: "read",
    ok: { 200: Balance },
    refusals: [],
  }),
  listTransactions: defineOperation({
    method: "GET",
    path: "/api/v1/agents/:agentId/transactions",
    summary: "List all transactions of an agent, newest first.",
    section: "Budget",
    auth: "bearer",
    ownerOnly: true,
    scope: "account:read",
    tier: "read",
    query: v.object(pageQuery),
    ok: { 200: v.object({ transactions: v.array(Transaction), next_cursor: nextCursor }) },
    refusals: ["request.invalid"],
  }),
  listSettlements: defineOperation({
    method: "GET",
    path: "/api/v1/agents/:agentId/settlements",
    summary:
      "List the signed settlement records in which the agent paid or was paid, newest first.",
    section: "Budget",
    auth: "bearer",
    ownerOnly: true,
    scope: "account:read",
    tier: "read",
    query: v.object(pageQuery),
    ok: { 200: v.object({ settlements: v.array(Settlement), next_cursor: nextCursor }) },
    refusals: ["request.invalid"],
  }),
  deposit: defineOperation({
    method: "POST",
    path: "/api/v1/agents/:agentId/deposit",
    summary: "Credit an account; a `reference` that was credited to it before credits nothing.",
    section: "Budget",
    auth: "master",
    tier: "write",
    keyed: true,
    body: DepositBody,
    ok: {
      200: v.object({
        agent_id: v.string(),
        balance: money,
        transaction_id: v.nullable(v.string()),
        idempotent: v.boolean(),
        /** False if no agent of this relay has the id yet; the account was credited nevertheless. */
        agent_known: v.optional(v.boolean()),
      }),
    },
    refusals: ["request.invalid", "agent.id_reserved", "money.balance_limit"],
  }),
  listAccounts: defineOperation({
    method: "GET",
    path: "/api/v1/admin/accounts",
    summary:
      "List all accounts by agent id, or the largest balance or hold first; ids without an agent are marked.",
    section: "Operator",
    auth: "master",
    tier: "read",
    query: v.object({
      sort: describeAs(
        v.optional(v.picklist(["id", "balance", "held"])),
        "The order: by agent id, or the largest balance or hold first.",
      ),
      nonzero: describeAs(
        v.optional(v.literal("1")),
        "Only accounts with a balance, a hold or a pending withdrawal.",
      ),
      ...pageQuery,
    }),
    ok: { 200: v.object({ accounts: v.array(AccountSummary), next_cursor: nextCursor }) },
    refusals: ["request.invalid"],
  }),
} as const;
