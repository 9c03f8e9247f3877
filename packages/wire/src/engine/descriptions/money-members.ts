/** Descriptions of members that state amounts, all in US dollars, and of related members, by name. */
export const moneyMembers: Readonly<Record<string, string>> = {
  amount: "The amount in USD.",
  amount_locked: "The money that was held for the task at its submission, in USD.",
  balance: "The money in the account, in USD.",
  balance_after: "The balance after this transaction, in USD.",
  card_held: "The part of the balance that came from a card and cannot be withdrawn yet, in USD.",
  currency: "The currency, always US dollars.",
  estimated_cost: "The price of the task in USD, that of the executor that it is assigned to.",
  fee_min: "The minimum arbitration fee, in USD.",
  max_budget: "The highest price that is accepted, in USD.",
  payer_id: "The id of the paying agent.",
  payment_id: "The id of the payment.",
  payout_reference: "The reference of the operator's payment.",
  pending_withdrawals: "The money that has left the balance for withdrawals not yet paid, in USD.",
  position:
    "The amount in USD that this relay owes the peer; negative if the peer owes this relay.",
  settlement_id: "The id of the settlement record.",
  transaction_id: "The id of the transaction.",
  unit_cost: "The price of one unit in USD; 0 for free.",
  withdrawal_id: "The id of the withdrawal.",
  x402_network: "The chain of the x402 payment that was sent with the task.",
  x402_tx_hash: "The transaction of the x402 payment that was sent with the task.",
};
