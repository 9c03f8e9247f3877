import { asMicro, requireNotNegative, type Micro } from "./money.ts";

/** What a dispute of a card payment stands at, as the newest event about it says. */
export interface CardDispute {
  readonly amount: Micro;
  /** Whether the processor has taken the amount: yes while it is open and when it was lost. */
  readonly isTaken: boolean;
  /** Whether it was closed. */
  readonly isFinal: boolean;
  /** When the processor made the event, in seconds. */
  readonly saidAt: number;
}

/**
 * How much of a card payment is taken back in all, in micro-units: what was refunded (`refunded` is the
 * sum of all refunds) and what disputes took, together never more than was paid.
 */
export function reversedAmount({
  paid,
  refunded,
  disputes,
}: {
  readonly paid: Micro;
  readonly refunded: Micro;
  readonly disputes: readonly Pick<CardDispute, "amount" | "isTaken">[];
}): Micro {
  const taken = disputes.filter(({ isTaken }) => isTaken);
  const sum = taken.reduce((all, { amount }) => all + requireNotNegative(amount), refunded + 0);
  return asMicro(Math.min(requireNotNegative(paid), sum));
}

/**
 * The newer of two states of one dispute, in whatever order their events come: a closed one is not
 * opened again by an event that was delayed, and of two alike the one that was made later counts.
 */
export function newerDispute(stored: CardDispute, said: CardDispute): CardDispute {
  if (stored.isFinal !== said.isFinal) return stored.isFinal ? stored : said;
  return said.saidAt >= stored.saidAt ? said : stored;
}
