import { asMicro, assertNotNegative, type Micro } from "./money.ts";

/** What a dispute of a card payment stands at, as the newest event about it says. */
export interface CardDispute {
  readonly amount: Micro;
  /** Whether the processor has taken the amount: yes while it is open and when it was lost. */
  readonly isTaken: boolean;
  /** Whether it was closed. */
  readonly isFinal: boolean;
  /** When the processor made the event, in seconds. */
  readonly reportedAt: number;
}

/**
 * How much of a card payment is taken back in all, in micro-units: what was refunded (`refunded` is the
 * sum of all refunds) and what disputes took, together never more than was paid.
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
  const sum = taken.reduce((all, { amount }) => all + assertNotNegative(amount), refunded + 0);
  return asMicro(Math.min(assertNotNegative(paid), sum));
}

/**
 * The newer of two states of one dispute, in whatever order their events come: a closed one is not
 * opened again by an event that was delayed, and of two alike the one that was made later counts.
 */
export function selectNewerDispute(stored: CardDispute, reported: CardDispute): CardDispute {
  if (stored.isFinal !== reported.isFinal) return stored.isFinal ? stored : reported;
  return reported.reportedAt >= stored.reportedAt ? reported : stored;
}
