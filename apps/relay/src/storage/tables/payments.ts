/** A session of the card processor. */
export interface CardCheckoutRow {
  session_id: string;
  agent_id: string;
  /** Null when the event was faster than the answer that began it. */
  asked: number | null;
  paid: number | null;
  created_at: number;
  credited_at: number | null;
  /** The processor's id of the payment, by which it is refunded and disputed. */
  payment_id: string | null;
}

/** What was taken back of a card payment. Amounts are micro-units. */
export interface CardReversalRow {
  payment_id: string;
  /** Whose account it was booked on; null while no checkout of this payment was credited. */
  agent_id: string | null;
  /** All refunds together. */
  refunded: number;
  /** What has been taken from the account, refunds and disputes together. */
  booked: number;
  created_at: number;
}

/** Where a dispute of a card payment stands. */
export interface CardDisputeRow {
  dispute_id: string;
  payment_id: string;
  amount: number;
  is_taken: 0 | 1;
  is_final: 0 | 1;
  /** When the processor made the event, in seconds. */
  said_at: number;
}

/** A proof of payment, from before the facilitator was asked to settle it. */
export interface X402PaymentRow {
  /** Of what can be settled once: chain, asset, wallet and nonce. */
  proof_hash: string;
  /** The account that it is for. */
  payer_id: string;
  wallet: string;
  amount: number;
  /** JSON, both: what the facilitator is asked with. */
  payload: string;
  requirements: string;
  /** `undecided`: asked again after no answer, the facilitator refused; the operator looks at the chain. */
  state: "settling" | "settled" | "failed" | "undecided";
  tx_hash: string | null;
  /** The task that it came with; null while that is not taken. */
  task_id: string | null;
  reason: string | null;
  created_at: number;
  settled_at: number | null;
}
