/** A withdrawal for which the owner asks. */
export interface WantedWithdrawal {
  readonly amount: number;
  readonly destination: string;
  /** Created once for each withdrawal, so that asking again withdraws nothing more. */
  readonly idempotencyKey: string;
}

/**
 * Returns the withdrawal to ask for: the same one as before if its answer was lost and the owner asks for the same
 * again, because the relay may have received it.
 */
export function keepWithdrawal(
  unanswered: WantedWithdrawal | undefined,
  wanted: WantedWithdrawal,
): WantedWithdrawal {
  const isSame =
    unanswered?.amount === wanted.amount && unanswered.destination === wanted.destination;
  return isSame ? unanswered : wanted;
}
