import type { Micro } from "@agent/budget";

/** A session of the card processor. */
export interface CardCheckoutRow {
  session_id: string;
  agent_id: string;
  /** Null if the event arrived before the response to the checkout. */
  asked: Micro | null;
  paid: Micro | null;
  created_at: number;
  credited_at: number | null;
  /** The processor's id of the payment, by which it is refunded and disputed. */
  payment_id: string | null;
  /** The time from which its money may be withdrawn; null if it was credited before this was stored. */
  release_at: number | null;
}

/** The reversed part of a card payment. Amounts are micro-units. */
export interface CardReversalRow {
  payment_id: string;
  /** The agent whose account was debited; null until a checkout of this payment is credited. */
  agent_id: string | null;
  /** The sum of all refunds. */
  refunded: Micro;
  /** The amount taken from the account for refunds and disputes. */
  booked: Micro;
  created_at: number;
}

/** The state of a dispute of a card payment. */
export interface CardDisputeRow {
  dispute_id: string;
  payment_id: string;
  amount: Micro;
  is_taken: 0 | 1;
  is_final: 0 | 1;
  /** The time of the event at the processor, in seconds. */
  said_at: number;
}

/** A proof of payment, stored before the facilitator is asked to settle it. */
export interface X402PaymentRow {
  /** The hash of chain, asset, wallet and nonce, which can be settled once. */
  proof_hash: string;
  /** The agent whose account it credits. */
  payer_id: string;
  wallet: string;
  amount: Micro;
  /** Both are JSON: the request to the facilitator. */
  payload: string;
  requirements: string;
  /** `undecided`: the facilitator refused a repeated request, so the operator must check the chain. */
  state: "settling" | "settled" | "failed" | "undecided";
  tx_hash: string | null;
  /** The task that it pays for; null until the task is accepted. */
  task_id: string | null;
  reason: string | null;
  created_at: number;
  settled_at: number | null;
}
