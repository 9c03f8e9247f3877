import { transactionTypes } from "@agent/budget";
import * as v from "valibot";
import { describeAs } from "../../engine/annotate-schema.ts";
import {
  amount,
  currency,
  extensibleEnum,
  money,
  nextCursor,
  pageQuery,
  paymentReference,
  shortText,
  wholeNumber,
} from "../../engine/fields.ts";
import { defineOperation } from "../../engine/operation.ts";

/** One row of an account's history; amounts are signed, so that they sum to the balance. */
export const Transaction = v.object({
  transaction_id: v.string(),
  agent_id: v.string(),
  type: describeAs(extensibleEnum(transactionTypes), "The kind of movement."),
  amount: describeAs(money, "The amount in USD, above 0 if it came into the account."),
  balance_after: money,
  reference_id: describeAs(
    v.nullable(v.string()),
    "The reference of the movement, such as the id of its task; null if there is none.",
  ),
  description: describeAs(
    v.nullable(v.string()),
    "A text about the movement; null if there is none.",
  ),
  created_at: wholeNumber,
});
export type Transaction = v.InferInput<typeof Transaction>;

export const Balance = v.object({
  agent_id: v.string(),
  balance: money,
  currency: v.literal("USD"),
  pending_withdrawals: money,
  pending_allocations: describeAs(money, "The money that is held for tasks, in USD."),
  /** The part of the balance that came from a card and cannot be withdrawn yet. */
  card_held: v.optional(money),
  transactions: describeAs(v.array(Transaction), "The newest transactions, newest first."),
});
export type Balance = v.InferInput<typeof Balance>;

/** A settlement record, signed by the relay like a receipt. */
export const Settlement = v.object({
  settlement_id: v.string(),
  allocation_id: describeAs(v.string(), "The id of the hold from which it was paid."),
  task_id: v.string(),
  receipt_hash: v.string(),
  ledger_hash: describeAs(
    v.nullable(v.string()),
    "The `content_hash` of the ledger of the task, as 64 hex digits; null if there is none.",
  ),
  amount_settled: describeAs(money, "The amount that the payer paid, in USD."),
  fee: describeAs(money, "The fee of the relay, in USD."),
  net: describeAs(money, "The amount that the payee received, in USD."),
  payer_id: describeAs(
    v.string(),
    "The id of the paying agent, or `relay:` and the id of the relay that forwarded the task.",
  ),
  payee_id: describeAs(v.string(), "The id of the paid agent."),
  status: describeAs(
    extensibleEnum(["completed", "partial", "refunded"]),
    "How much was paid: all (`completed`), a part (`partial`) or nothing (`refunded`).",
  ),
  settled_at: wholeNumber,
  outcome_hash: describeAs(
    v.optional(v.string()),
    "The SHA-256 of the outcome of the inspection without its signature, as 64 hex digits; only for an inspected task.",
  ),
  /** The transaction and the chain of the x402 payment that was sent with the task. */
  x402_tx_hash: v.optional(v.string()),
  x402_network: v.optional(v.string()),
  issuer: describeAs(v.string(), "The did:key of the relay that signed."),
  suite: v.string(),
  signature: v.string(),
});
export type Settlement = v.InferInput<typeof Settlement>;

/** An account as the operator sees it. */
export const AccountSummary = v.object({
  agent_id: v.string(),
  balance: money,
  held: describeAs(money, "The sum of the holds of tasks that have not been settled, in USD."),
  pending_withdrawals: money,
  /** The part of the balance that came from a card and cannot be withdrawn yet. */
  card_held: v.optional(money),
  agent_known: describeAs(
    v.boolean(),
    "False for an id that no agent has registered or bootstrapped, for example a mistyped one.",
  ),
  last_at: describeAs(
    v.optional(v.nullable(wholeNumber)),
    "The time of its last movement, in ms since the Unix epoch; null before the first one.",
  ),
});
export type AccountSummary = v.InferOutput<typeof AccountSummary>;

const DepositBody = v.object({
  amount: describeAs(amount, "The amount to credit, in USD."),
  currency: v.optional(currency, "USD"),
  reference: describeAs(
    v.optional(paymentReference),
    "The reference of the deposit; one that was already credited to the account credits nothing. It must have no leading or trailing white space and be in Unicode form C.",
  ),
  description: describeAs(v.optional(shortText), "A text for the transaction."),
});

export const budget = {
  getBalance: defineOperation({
    method: "GET",
    path: "/api/v1/agents/:agentId/balance",
    summary: "Get an agent's balance with its newest 50 transactions.",
    section: "Budget",
    auth: "bearer",
    audited: "never",
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
    audited: "never",
    ownerOnly: true,
    scope: "account:read",
    tier: "read",
    query: v.object(pageQuery),
    ok: {
      200: v.object({
        transactions: describeAs(v.array(Transaction), "The transactions, newest first."),
        next_cursor: nextCursor,
      }),
    },
    refusals: ["request.invalid"],
  }),
  listSettlements: defineOperation({
    method: "GET",
    path: "/api/v1/agents/:agentId/settlements",
    summary:
      "List the signed settlement records in which the agent paid or was paid, newest first.",
    section: "Budget",
    auth: "bearer",
    audited: "never",
    ownerOnly: true,
    scope: "account:read",
    tier: "read",
    query: v.object(pageQuery),
    ok: {
      200: v.object({
        settlements: describeAs(
          v.array(Settlement),
          "The signed settlement records, newest first.",
        ),
        next_cursor: nextCursor,
      }),
    },
    refusals: ["request.invalid"],
  }),
  deposit: defineOperation({
    method: "POST",
    path: "/api/v1/agents/:agentId/deposit",
    summary: "Credit an account; a `reference` that was already credited to it credits nothing.",
    section: "Budget",
    auth: "master",
    tier: "write",
    keyed: true,
    body: DepositBody,
    ok: {
      200: v.object({
        agent_id: v.string(),
        balance: money,
        transaction_id: describeAs(
          v.nullable(v.string()),
          "The id of the transaction; null if nothing was credited.",
        ),
        idempotent: describeAs(v.boolean(), "Whether the `reference` was credited before."),
        agent_known: describeAs(
          v.optional(v.boolean()),
          "False if no agent of this relay has the id yet; the account was credited nevertheless.",
        ),
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
    ok: {
      200: v.object({
        accounts: describeAs(v.array(AccountSummary), "The accounts."),
        next_cursor: nextCursor,
      }),
    },
    refusals: ["request.invalid"],
  }),
} as const;
