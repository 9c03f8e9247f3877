/** Rules that a simulated relay can be made to break, to show that the checks would notice. */
export interface Faults {
  /** A repeated settlement is booked like a new one. */
  readonly forgetsSettlements?: boolean;
  /** When the last attempt's answer is lost, the payer is refunded without asking the peer. */
  readonly refundsOnTimeout?: boolean;
  /** A result counts from whichever peer it comes. */
  readonly takesAnyResult?: boolean;
}
