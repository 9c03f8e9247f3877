import type { FederationFeature } from "@agent/federation-protocol";

/** The features that this relay states in its identity and its heartbeats. */
export const OWN_FEATURES: readonly FederationFeature[] = [
  "relayed",
  "position",
  "signed_accepted",
  "cancel",
  "agent_succession",
  "cancel_notice",
];
