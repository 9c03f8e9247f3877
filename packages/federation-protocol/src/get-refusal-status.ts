import { errors } from "@agent/wire";
import type { FederationCode } from "./refusals.ts";

/**
 * Returns the HTTP status of a refusal (specification, "Errors"). The statuses are part of the protocol: the
 * sender decides by status and code whether to send a message again (`classifyDelivery`).
 */
export function getRefusalStatus(code: FederationCode): number {
  return code === "federation.malformed" ? 400 : errors[code].status;
}
