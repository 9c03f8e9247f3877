import { limits } from "@agent/wire";

/** The times that decide when a claim ends, in ms of the relay's clock. */
export interface ClaimTimes {
  readonly claimed_at: number;
  /** The newest sign of work; until a cancel is requested, an open socket counts as one too. */
  readonly last_sign_at: number;
  /** The submitter's bound; null without one. */
  readonly wall_clock_ms: number | null;
  /** The time of the submitter's request to cancel; null without one. */
  readonly cancel_requested_at: number | null;
}

/**
 * Returns the time at which a claim ends if its holder stays silent: one lease after the latest sign of
 * work or the request to cancel, but never after `wall_clock_ms`. If a cancellation was requested, the task
 * is then cancelled; otherwise the next executor gets it.
 */
export function calculateClaimEnd(claim: ClaimTimes): number {
  const { claimed_at, last_sign_at, wall_clock_ms, cancel_requested_at } = claim;
  const newest = Math.max(last_sign_at, cancel_requested_at ?? 0);
  return Math.min(
    newest + limits.claimLeaseMs,
    wall_clock_ms === null ? Infinity : Math.floor(claimed_at + wall_clock_ms),
  );
}

/** The socket of a device that sends a message about a claimed task. */
export interface ClaimSocket {
  /** In ms of the relay's clock. */
  readonly openedAt: number;
  /** Whether the claim was made or renewed on this socket. */
  readonly isHolder: boolean;
  /** Whether the agent has no other socket. */
  readonly isOnly: boolean;
}

/**
 * Returns whether a claim of the socket's own device belongs to another process with the same key, such as one on a
 * copy of the data folder: the socket was open when the claim was made on another one. A socket that was opened later
 * may be that of the holder, which was restarted or has reconnected.
 */
export function isHeldByOtherProcess(
  claimedAt: number | null,
  { openedAt, isHolder, isOnly }: ClaimSocket,
): boolean {
  return claimedAt !== null && !isHolder && !isOnly && openedAt <= claimedAt;
}

/** The facts about a claim that ended without a receipt, a release or a refusal. */
export interface EndedClaim {
  /** Null when the start of the claim is unknown; such a claim has no consequence. */
  readonly claimed_at: number | null;
  readonly lapsed_at: number;
  /** Whether money was held for the task. */
  readonly priced: boolean;
  /** The latency that the executor's listing promises; null without one. */
  readonly max_latency_ms: number | null;
  /**
   * The start of the relay's last uninterrupted run, without a restart, a freeze or a clock jump.
   */
  readonly running_since: number;
  /** The time that the holder may need to reconnect after the relay was interrupted. */
  readonly recovery_ms: number;
  readonly now: number;
}

/** A claimant may need this long to reconnect after the relay was interrupted. */
export const RECOVERY_MS = 120_000;

/** Where the listing promises no latency, a shorter claim does not count beyond the pair. */
const LATENCY_WITHOUT_LISTING_MS = 60_000;

/**
 * Returns the scope in which a no-show counts: for the pair of submitter and executor, and for strangers
 * only if the task was priced and the executor had the time that it promised, because otherwise no-shows
 * could be fabricated for free. A claim from before a restart, a freeze or a clock jump that ends soon
 * afterwards does not count, because the relay was unavailable.
 */
export function noShowScope(claim: EndedClaim): "none" | "pair" | "strangers" {
  const { claimed_at, lapsed_at, priced, max_latency_ms, running_since, recovery_ms, now } = claim;
  if (claimed_at === null) return "none";
  if (claimed_at <= running_since && now <= running_since + recovery_ms) return "none";
  const hadTime = lapsed_at - claimed_at >= (max_latency_ms ?? LATENCY_WITHOUT_LISTING_MS);
  return priced && hadTime ? "strangers" : "pair";
}

/**
 * Returns whether the holder still worked when the task expired; then the claim counts for neither
 * side.
 */
export function isWorkedOnAtExpiry({
  worked_at,
  expires_at,
  inCall,
}: {
  readonly worked_at: number | null;
  readonly expires_at: number;
  /** Whether the executor's endpoint was being called. */
  readonly inCall: boolean;
}): boolean {
  return inCall || (worked_at !== null && expires_at - worked_at < limits.claimLeaseMs);
}
