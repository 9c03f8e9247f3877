import { asMicro, fromMicro, type Micro, toMicro } from "@agent/budget";
import type { StatedPosition } from "../messages/peer.ts";

/** What one relay owes another by its own books; below 0 what it is owed. */
export interface Position {
  readonly amount: Micro;
  /** Whether a task or a settlement between the two relays may still move the amount. */
  readonly underWay: boolean;
}

/** A relay's own position, with the time (ms) of the last movement of the account, null for none. */
export interface OwnPosition extends Position {
  readonly movedAt: number | null;
}

/** The position as a heartbeat carries it, in USD. */
export function toPositionMessage({ amount, underWay }: Position): StatedPosition {
  return { amount: fromMicro(amount), under_way: underWay };
}

/** The position that a peer's heartbeat states. */
export function parsePosition({ amount, under_way: underWay }: StatedPosition): Position {
  const absolute = toMicro(Math.abs(amount));
  return { amount: asMicro(amount < 0 ? 0 - absolute : absolute), underWay };
}

/**
 * By how much the books of two relays differ; 0 if they agree. Null if that cannot be told now: while
 * something is under way on either side, or if the own account moved after the peer may have read its
 * books. `statedAfter` is the earliest time (ms, by the own clock) at which the peer can have done so.
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
