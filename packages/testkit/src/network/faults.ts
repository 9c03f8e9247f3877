/** Rules that a simulated relay can break, which shows that the checks detect it. */
export interface Faults {
  /** A repeated settlement is booked like a new one. */
  readonly losesSettlements?: boolean;
  /** The payer is refunded without asking the peer if the answer to the last attempt is lost. */
  readonly refundsOnTimeout?: boolean;
  /** A result is accepted from any peer. */
  readonly acceptsAnyResult?: boolean;
  /** A1: a receipt that is delivered to the relay ends a task that was forwarded to a peer. */
  readonly endsForwardedTasks?: boolean;
  /** A1: the key in a receipt is accepted even if the registry has a different one. */
  readonly trustsEmbeddedKeys?: boolean;
  /** A2: an intermediate relay keeps the reservation of a task that was never settled. */
  readonly keepsExpiredReservations?: boolean;
  /** A2: a forwarded task that ended without payment stays reserved. */
  readonly reservesForEndedTasks?: boolean;
  /** A3: a peer that the operator removed can complete a handshake as if it had left voluntarily. */
  readonly admitsRemovedPeers?: boolean;
  /** A3: a peer that is admitted again gets the credit of a new peer. */
  readonly returnsCredit?: boolean;
  /** A5: the relay uses the time of the wall clock unchecked. */
  readonly trustsWallClock?: boolean;
  /** A5: the relay starts with the wall clock's time, although it has stored a later one. */
  readonly ignoresStoredTime?: boolean;
  /** A8: results are not returned again after a restore. */
  readonly keepsResultsAfterRestore?: boolean;
  /** A8: a settlement in the answer to a result expires if the answer is slow, and is never repeated. */
  readonly expiresSlowAnswers?: boolean;
  /** A8: a freeze does not extend the peers' time to settle. */
  readonly countsFrozenTime?: boolean;
  /** A8: an attempt that reaches a frozen peer counts. */
  readonly usesUpFrozenAttempts?: boolean;
  /** A8: a difference between the books of two relays raises no alarm. */
  readonly hidesDifferences?: boolean;
  /** A8: books are compared while a task or settlement is pending. */
  readonly comparesUnderWay?: boolean;
  /** A9: a hold expires without a default. */
  readonly ignoresDefaults?: boolean;
  /** A9: a defaulted amount does not count as owed. */
  readonly omitsDefaults?: boolean;
  /** A9: a result that is accepted only after its hold has expired need not be settled. */
  readonly ignoresLateAcceptance?: boolean;
}
