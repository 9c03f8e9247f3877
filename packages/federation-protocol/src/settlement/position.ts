import { asMicro, fromMicro, type Micro, toMicro } from "@agent/budget";
import type { StatedPosition } from "../messages/peer.ts";

/** The amount that one relay owes another according to its own books; negative if it is owed that amount. */
export interface Position {
  readonly amount: Micro;
  /** Whether a pending task or settlement between the two relays may still change the amount. */
  readonly underWay: boolean;
}

/**
 * A relay's own position and when the account last moved, in ms since the epoch by its own clock, or null
 * if it never did.
 */
export interface OwnPosition extends Position {
  readonly movedAt: number | null;
}

/** Converts a position to the form used in a heartbeat, in USD. */
export function toPositionMessage({ amount, underWay }: Position): StatedPosition {
  return { amount: fromMicro(amount), under_way: underWay };
}

/** Parses the position in a peer's heartbeat. */
export function parsePosition({ amount, under_way: underWay }: StatedPosition): Position {
  const absolute = toMicro(Math.abs(amount));
  return { amount: asMicro(amount < 0 ? 0 - absolute : absolute), underWay };
}

/**
 * Returns the difference between the books of two relays; 0 if they agree. Null if it cannot be determined:
 * while a task or settlement is pending on either side, or if this relay's account moved after the peer may
 * have read its books. `statedAfter` is the earliest time (ms since the epoch, by this relay's clock) at
 * which the peer can have read them.
 */
export function comparePositions(
  own: OwnPosition,
  peer: Position,
  statedAfter: number,
): Micro | null {
  if (own.underWay || peer.underWay) return null;
  if (own.movedAt !== null && own.movedAt >= statedAfter) return null;
  return asMicro(own.amount + peer.amount);
}

/** A difference between the books of two relays. */
export interface PositionDifference {
  readonly amount: Micro;
  /** The time (ms since the epoch, by the own clock) at which it was first seen. */
  readonly seenAt: number;
  /** Whether it is an alarm, because a later statement of the peer differs too. */
  readonly isConfirmed: boolean;
}

/**
 * Returns the known difference after `comparePositions` has returned `compared`; undefined if there is
 * none. A statement can predate the end of something that was pending here, for example if the peer had
 * given up a task when it stated its position and has settled it since. So a difference counts only when a
 * statement made after it was first seen confirms it.
 */
export function updateDifference(
  known: PositionDifference | undefined,
  compared: Micro | null,
  { statedAfter, now }: { readonly statedAfter: number; readonly now: number },
): PositionDifference | undefined {
  if (compared === null) return known;
  if (compared === 0) return undefined;
  if (known?.isConfirmed) return { ...known, amount: compared };
  if (known?.amount !== compared) return { amount: compared, seenAt: now, isConfirmed: false };
  return { ...known, isConfirmed: statedAfter > known.seenAt };
}
