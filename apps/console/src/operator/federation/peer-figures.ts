import { sumUnpaidResults } from "@agent/wire";

const IDLE_WIDTH = 1;
const MIN_WIDTH = 2;
const MAX_WIDTH = 8;

/** Returns the width of the line to a peer, in proportion to the traffic of the busiest peer. */
export function getLineWidth(tasks: number, mostTasks: number): number {
  if (tasks <= 0) return IDLE_WIDTH;
  return MIN_WIDTH + Math.min(1, tasks / mostTasks) * (MAX_WIDTH - MIN_WIDTH);
}

interface PeerCredit {
  /** Above 0 if this relay owes the peer. */
  readonly position: number;
  /** The amount that this relay may owe for open tasks. */
  readonly reserved: number;
  readonly defaulted?: number | undefined;
  /** The prices of results that the peer has not answered or settled in time. */
  readonly undecided?: number | undefined;
  /** The prices of results that the peer refused when they may have been too late. */
  readonly refused?: number | undefined;
  readonly credit_limit: number;
}

/**
 * Returns the used share of a credit limit, from 0 to 1. The limit applies in each direction: to what this
 * relay owes and may owe, or to what the peer owes.
 */
export function getUsedCredit(peer: PeerCredit): number {
  const { position, reserved, defaulted = 0, credit_limit: limit } = peer;
  const unpaid = defaulted + sumUnpaidResults({ ...peer, limit });
  const used = Math.max(position + reserved, unpaid - position, 0);
  if (used === 0) return 0;
  return used >= limit ? 1 : used / limit;
}
