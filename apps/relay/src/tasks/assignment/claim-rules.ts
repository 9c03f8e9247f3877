import { limits } from "@agent/wire";

/** What the end of a claim depends on; times are in ms by the relay's clock. */
export interface ClaimTimes {
  readonly claimed_at: number;
  /** The newest sign of work; while no cancel was asked for, an open socket counts as one too. */
  readonly last_sign_at: number;
  /** The submitter's bound; null without one. */
  readonly wall_clock_ms: number | null;
  /** When the submitter asked to cancel; null while it has not. */
  readonly cancel_requested_at: number | null;
}

/**
 * When a claim ends if nothing more is heard of its holder: a lease after the newest sign of work or
 * the request to cancel, but never after `wall_clock_ms`. Without such a request the task then goes
 * to the next executor, with one it is cancelled.
 */
export function calculateClaimEnd(claim: ClaimTimes): number {
  const { claimed_at, last_sign_at, wall_clock_ms, cancel_requested_at } = claim;
  const newest = Math.max(last_sign_at, cancel_requested_at ?? 0);
  return Math.min(
    newest + limits.claimLeaseMs,
    wall_clock_ms === null ? Infinity : Math.floor(claimed_at + wall_clock_ms),
  );
}

/** What is known of a claim that ended without a receipt, a release or a refusal. */
export interface EndedClaim {
  /** Null for a claim of which it is not known when it began, so that nothing follows from it. */
  readonly claimed_at: number | null;
  readonly lapsed_at: number;
  /** Whether money was held for the task. */
  readonly priced: boolean;
  /** What the executor's listing promises; null without one. */
  readonly max_latency_ms: number | null;
  /** Since when the relay works without a restart, a freeze or a jump of its clock. */
  readonly running_since: number;
  /** How long the holder may need to come back to a relay that stood still. */
  readonly recovery_ms: number;
  readonly now: number;
}

/** A worker needs this long to come back to a relay that stood still. */
export const RECOVERY_MS = 120_000;

/** A claim that was shorter says nothing to strangers where the listing promises no time. */
const LATENCY_WITHOUT_LISTING_MS = 60_000;

/**
 * For whom a no-show counts: for the pair of submitter and executor, for strangers too only if the task
 * was priced and the executor had the time that it promises, else no-shows could be made for free.
 * A claim from before a restart, a freeze or a jump of the clock that ends soon after it does not
 * count: the relay was away, not the worker.
 */
export function noShowScope(claim: EndedClaim): "none" | "pair" | "strangers" {
  const { claimed_at, lapsed_at, priced, max_latency_ms, running_since, recovery_ms, now } = claim;
  if (claimed_at === null) return "none";
  if (claimed_at <= running_since && now <= running_since + recovery_ms) return "none";
  const hadTime = lapsed_at - claimed_at >= (max_latency_ms ?? LATENCY_WITHOUT_LISTING_MS);
  return priced && hadTime ? "strangers" : "pair";
}

/** Whether the holder of a claim still worked when the task expired: then it counts for neither side. */
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
