import type { ErrorText } from "./error-text.ts";

/** Refusals about accounts, payments, cards and withdrawals. */
export const moneyErrors = {
  "budget.insufficient": {
    status: 402,
    text: "Insufficient funds: deposit to the account or pay via the service",
  },
  "budget.max_required": {
    status: 400,
    text: "max_budget is required for a paid task at this relay",
  },
  "budget.card_hold": { status: 402, text: "Card deposits cannot be withdrawn yet" },
  "account.overdrawn": {
    status: 402,
    text: "Account is overdrawn because a card payment was reversed: deposit to it first",
  },
  "budget.max_exceeded": { status: 402, text: "Price exceeds max_budget" },
  "budget.no_payer": { status: 402, text: "submitted_by is required for a paid task" },
  "payment.malformed": { status: 400, text: "PAYMENT-SIGNATURE must be an x402 v2 payment" },
  "payment.mismatch": { status: 402, text: "Payment does not match the payment requirements" },
  "payment.invalid": { status: 402, text: "Payment verification failed" },
  "payment.not_settled": { status: 402, text: "Payment was not settled" },
  "payment.reused": { status: 409, text: "Payment was already used" },
  "payment.unavailable": {
    status: 503,
    text: "Payment facilitator cannot be reached, and nothing was charged",
  },
  "payment.undecided": {
    status: 503,
    text: "Payment is undecided: do not pay again, it is credited once it is settled",
  },
  "payment.not_found": { status: 404, text: "Payment not found" },
  "payment.resolved": { status: 409, text: "Payment is already resolved" },
  "card.not_configured": { status: 501, text: "Card deposits are not configured at this relay" },
  "card.amount_unsupported": {
    status: 400,
    text: "amount must be whole cents from 0.50 to 999999.99",
  },
  "card.return_url_missing": {
    status: 400,
    text: "return_url is required because this relay has no address of its own",
  },
  "card.processor_failed": { status: 502, text: "Card processor did not accept the request" },
  "card.signature_invalid": { status: 400, text: "Event signature verification failed" },
  "withdrawal.too_many": {
    status: 409,
    text: "Agent has reached its maximum of pending withdrawals",
  },
  "withdrawal.not_found": { status: 404, text: "Withdrawal not found" },
  "withdrawal.resolved": { status: 409, text: "Withdrawal is already resolved" },
  "statement.too_long": {
    status: 400,
    text: "Period contains too many movements for one statement",
  },
  "money.balance_limit": { status: 400, text: "Balance would exceed 9000000000" },
} as const satisfies Record<string, ErrorText>;
