import { asMicro, fromMicro, type Micro, toMicro } from "@agent/budget";
import type { StatedPosition } from "../messages/peer.ts";

/** The amount that one relay owes another by its own books; negative if it is owed that amount. */
export interface Position {
  readonly amount: Micro;
  /** Whether a pending task or settlement between the two relays may still change the amount. */
  readonly underWay: boolean;
}

/**
 * A relay's own position with the time of the account's last movement, in ms since the epoch by its own
 * clock, or null without one.
 */
export interface OwnPosition extends Position {
  readonly movedAt: number | null;
}

/** Converts a position to that of a heartbeat, in USD. */
export function toPositionMessage({ amount, underWay }: Position): StatedPosition {
  return { amount: fromMicro(amount), under_way: underWay };
}

/** Parses the position in a peer's heartbeat. */
export function parsePosition({ amount, under_way: underWay }: StatedPosition): Position {
  const absolute = toMicro(Math.abs(amount));
  return { amount: asMicro(amount < 0 ? 0 - absolute : absolute), underWay };
}

/**
 * Returns the difference between the books of two relays; 0 if they agree. Null if it cannot be
 * determined: while a task or settlement is pending on either side, or if the own account moved
 * after the peer may have read its books. `statedAfter` is the earliest time (ms since the
 * epoch, by the own clock) at which the peer can have done so.
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
  /** Whether it is an alarm: a position that the peer stated later differs too. */
  readonly isConfirmed: boolean;
}

/**
 * Returns the difference that is known after `comparePositions` has returned `compared`; undefined
 * without one. A statement can be older than the end of what was pending here, for example of a
 * task that the peer had given up when it stated its position, and that it has settled since. So a
 * difference counts once a statement that was made after it was first seen confirms it.
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
