/** The prefix of all paths between relays; they are 404 while federation is off. */
export const FEDERATION_PREFIX = "/federation/v1/";

/** The prefix of all paths of a witness; they are 404 while it is off. */
export const WITNESS_PREFIX = "/witness/v1/";

/** The three headers of every request between relays (specification, "Federation requests"). */
export const FEDERATION_HEADERS = {
  relayId: "X-Relay-Id",
  signature: "X-Relay-Signature",
  timestamp: "X-Relay-Timestamp",
} as const;
