/** Rules that a simulated relay can be made to break, to show that the checks would notice. */
export interface Faults {
  /** A repeated settlement is booked like a new one. */
  readonly losesSettlements?: boolean;
  /** When the last attempt's answer is lost, the payer is refunded without asking the peer. */
  readonly refundsOnTimeout?: boolean;
  /** A result counts from whichever peer it comes. */
  readonly acceptsAnyResult?: boolean;
  /** A1: a receipt that is delivered to the relay ends a task that is with a peer. */
  readonly endsForwardedTasks?: boolean;
  /** A1: the key that stands in a receipt counts, whatever key the registry knows. */
  readonly trustsEmbeddedKeys?: boolean;
  /** A2: a relay in the middle goes on reserving for a task that was never settled. */
  readonly keepsExpiredReservations?: boolean;
  /** A2: a forwarded task that ended without pay goes on counting as reserved. */
  readonly reservesForEndedTasks?: boolean;
  /** A3: a peer that the operator removed shakes hands as if it had left by itself. */
  readonly admitsRemovedPeers?: boolean;
  /** A3: a peer that is admitted again gets the credit of a new one. */
  readonly returnsCredit?: boolean;
  /** A5: the time is what the wall clock shows. */
  readonly trustsWallClock?: boolean;
  /** A8: results are not brought back after a restore. */
  readonly keepsResultsAfterRestore?: boolean;
  /** A8: a settlement in the answer to a result expires while a slow answer is under way. */
  readonly expiresSlowAnswers?: boolean;
  /** A8: peers have no more time to settle after a freeze. */
  readonly countsFrozenTime?: boolean;
  /** A8: an attempt that meets a frozen peer is used up. */
  readonly usesUpFrozenAttempts?: boolean;
  /** A8: a difference between the books of two relays is no alarm. */
  readonly hidesDifferences?: boolean;
  /** A8: books are compared while something between the two relays is under way. */
  readonly comparesUnderWay?: boolean;
  /** A9: a hold lapses without a default. */
  readonly ignoresDefaults?: boolean;
  /** A9: what a peer has defaulted on is not counted as owed. */
  readonly omitsDefaults?: boolean;
  /** A9: a result that is accepted only after its hold has lapsed need not be settled. */
  readonly ignoresLateAcceptance?: boolean;
}
