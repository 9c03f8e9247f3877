/** A session of the card processor. */
export interface CardCheckoutRow {
  session_id: string;
  agent_id: string;
  /** Null when the event was faster than the answer that began it. */
  asked: number | null;
  paid: number | null;
  created_at: number;
  credited_at: number | null;
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
  reason: string | null;
  created_at: number;
  settled_at: number | null;
}
