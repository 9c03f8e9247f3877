import type { Micro } from "@agent/budget";

export interface AccountRow {
  account: string;
  balance: Micro;
  held: Micro;
  pending_withdrawals: Micro;
  sequence: number;
  /** JSON array of [release time, amount] of money from cards; null for none. */
  card_lots: string | null;
  /** The time of its last posting; 0 before the first. */
  last_posted_at: number;
}

export interface PostingRow {
  account: string;
  sequence: number;
  transaction_id: string;
  type: string;
  amount: Micro;
  balance_after: Micro;
  reference_id: string | null;
  description: string | null;
  created_at: number;
}

export interface DepositReferenceRow {
  agent_id: string;
  reference: string;
}

export interface SettlementRow {
  task_id: string;
  settlement_id: string;
  allocation_id: string;
  receipt_hash: string;
  ledger_hash: string | null;
  amount_settled: Micro;
  fee: Micro;
  net: Micro;
  payer_id: string;
  payee_id: string;
  status: "completed" | "partial" | "refunded";
  settled_at: number;
  /** JSON array of [account, sequence] of each posting of the movement. */
  postings: string;
  /** The payment of the task on a chain, and its chain; null without one. */
  x402_tx_hash: string | null;
  x402_network: string | null;
  /** The position of the relay's key that was in force, counted from 0. */
  relay_key: number;
  /** Of an inspected task: the hash of the outcome of its inspection; else null. */
  outcome_hash: string | null;
}

export interface WithdrawalRow {
  withdrawal_id: string;
  agent_id: string;
  amount: Micro;
  destination: string;
  status: "pending" | "completed" | "failed";
  created_at: number;
  resolved_at: number | null;
  payout_reference: string | null;
  reason: string | null;
}
