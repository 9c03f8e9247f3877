/**
 * How an attempt to deliver something ended. `unreachable`: no connection ever stood, so nothing can
 * have arrived. `unknown`: it may have, and no answer came.
 */
export type Delivery =
  | { readonly kind: "answered"; readonly status: number; readonly code?: string | undefined }
  | { readonly kind: "unreachable" }
  | { readonly kind: "unknown" };

/** What an answer says of the delivery. */
export type DeliveryOutcome =
  | "accepted"
  | "pending"
  | "duplicate"
  | "refused"
  | "later"
  | "unknown";

/**
 * Reads an answer's status, and its code where it has one. `refused` is final for this copy; `later`
 * says that it was not looked at (rate, overload, a signature or clock that may be mended); a
 * failure of the other side says nothing.
 */
export function classifyDelivery(delivery: Delivery): DeliveryOutcome {
  if (delivery.kind === "unknown") return "unknown";
  if (delivery.kind === "unreachable") return "later";
  const { status, code } = delivery;
  // Federation is off at the other side for now; what was sent was not looked at.
  if (code === "route.not_found") return "later";
  // Unlike every other 403 it says that no clock or key has to be mended first.
  if (code === "result.wrong_peer") return "refused";
  if (status === 202) return "pending";
  if (status >= 200 && status < 300) return "accepted";
  if (status === 409) return "duplicate";
  if (finalStatuses.includes(status)) return "refused";
  if (unprocessedStatuses.includes(status)) return "later";
  return "unknown";
}

const finalStatuses = [400, 402, 404, 410, 413, 415, 422];
const unprocessedStatuses = [401, 403, 405, 408, 425, 429, 503];

/** Whether the peer stands still: a frozen relay looks at nothing, so the attempt was none. */
export function isPeerFrozen(delivery: Delivery): boolean {
  if (delivery.kind !== "answered") return false;
  return delivery.status === 503 && delivery.code === "server.frozen";
}
