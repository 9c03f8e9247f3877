import type { RetrySchedule } from "./retry-schedule.ts";

/**
 * The result of a delivery attempt. `unreachable`: no connection was established, so the message cannot
 * have arrived. `unknown`: the message may have arrived, but there was no answer.
 */
export type Delivery =
  | {
      readonly kind: "answered";
      readonly status: number;
      readonly code?: string | undefined;
      /** The delay that the answer's `Retry-After` asks for, in ms. */
      readonly retryAfterMs?: number | undefined;
    }
  | { readonly kind: "unreachable" }
  | { readonly kind: "unknown" };

/** The consequence of a delivery result for the message. */
export type DeliveryOutcome =
  | "accepted"
  | "pending"
  | "duplicate"
  | "refused"
  | "later"
  | "unknown";

/**
 * Classifies an answer by its status and code. `refused` is final for this copy. `later` means that the
 * message was not processed: a rate limit, overload, a signature or clock that can be corrected, or a
 * refusal without a code, which comes from a proxy instead of the peer. After a failure of the peer the
 * outcome is unknown.
 */
export function classifyDelivery(delivery: Delivery): DeliveryOutcome {
  if (delivery.kind === "unknown") return "unknown";
  if (delivery.kind === "unreachable") return "later";
  const { status, code } = delivery;
  // Federation is off at the receiver for now, so the message was not processed.
  if (code === "route.not_found") return "later";
  // Any other 403 can be resolved by correcting a clock or a key, but not this one.
  if (code === "result.wrong_peer") return "refused";
  if (isIdTaken(delivery)) return "refused";
  if (status === 202) return "pending";
  if (status >= 200 && status < 300) return "accepted";
  if (status === 409) return "duplicate";
  if (finalStatuses.includes(status)) return code === undefined ? "later" : "refused";
  if (unprocessedStatuses.includes(status)) return "later";
  return "unknown";
}

/**
 * Returns whether the peer states that the id of a forwarded task already belongs to another party there,
 * so the peer has not accepted the task. A 409 with any other code means that it has.
 */
export function isIdTaken(delivery: Delivery): boolean {
  if (delivery.kind !== "answered") return false;
  return delivery.status === 409 && delivery.code === "forward.id_taken";
}

/**
 * Returns whether the peer deferred the message: its rate limit is reached (429), or it is frozen, draining
 * or overloaded (503). This must not use up an attempt, because parties other than the payer can exhaust
 * the rate limit.
 */
export function isDeferred(delivery: Delivery): boolean {
  return delivery.kind === "answered" && deferralStatuses.includes(delivery.status);
}

/**
 * Returns the time of the next attempt after a deferred one: the scheduled time, or a later one that
 * `Retry-After` asks for, but no later than the longest pause of the schedule from now. All times are in ms
 * since the epoch, by this relay's clock.
 */
export function getNextAttemptTime(
  scheduledAt: number,
  delivery: Delivery,
  { pauses, now }: Pick<RetrySchedule, "pauses"> & { readonly now: number },
): number {
  const { retryAfterMs = 0 } = delivery.kind === "answered" ? delivery : {};
  return Math.max(scheduledAt, now + Math.min(retryAfterMs, Math.max(0, ...pauses)));
}

const deferralStatuses = [429, 503];
const finalStatuses = [400, 402, 404, 410, 413, 415, 422];
const unprocessedStatuses = [401, 403, 405, 408, 425, 429, 503];

/**
 * Returns whether the peer is frozen. A frozen relay processes no message, so the attempt does not
 * count.
 */
export function isPeerFrozen(delivery: Delivery): boolean {
  if (delivery.kind !== "answered") return false;
  return delivery.status === 503 && delivery.code === "server.frozen";
}
