import { asMicro, assertNotNegative, type Micro } from "./money.ts";

/** The state of a dispute of a card payment according to its newest event. */
export interface CardDispute {
  readonly amount: Micro;
  /**
   * Whether the processor has taken the amount back: true while the dispute is open and after it was lost.
   */
  readonly isTaken: boolean;
  /** Whether it is closed. */
  readonly isFinal: boolean;
  /** The time at which the processor created the event, in seconds. */
  readonly reportedAt: number;
}

/**
 * Computes how much of a card payment is reversed in total, in micro-units: the sum of the refunds
 * (`refunded`) and the disputed amounts that were taken, at most the payment.
 */
export function computeReversedAmount({
  paid,
  refunded,
  disputes,
}: {
  readonly paid: Micro;
  readonly refunded: Micro;
  readonly disputes: readonly Pick<CardDispute, "amount" | "isTaken">[];
}): Micro {
  const taken = disputes.filter(({ isTaken }) => isTaken);
  const sum = taken.reduce((all: number, { amount }) => all + assertNotNegative(amount), refunded);
  return asMicro(Math.min(assertNotNegative(paid), sum));
}

/**
 * Returns the newer of two states of one dispute, regardless of the order of their events: a delayed
 * event does not reopen a closed dispute, and otherwise the later event wins.
 */
export function selectNewerDispute(stored: CardDispute, reported: CardDispute): CardDispute {
  if (stored.isFinal !== reported.isFinal) return stored.isFinal ? stored : reported;
  return reported.reportedAt >= stored.reportedAt ? reported : stored;
}
