import type { FederationFeature } from "@agent/federation-protocol";

/** What this relay can do for its peers; it names these in its identity and its heartbeats. */
export const OWN_FEATURES: readonly FederationFeature[] = [
  "relayed",
  "position",
  "signed_accepted",
  "cancel",
  "agent_succession",
];
