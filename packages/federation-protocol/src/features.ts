/**
 * The features of a relay beyond the first version of this protocol:
 *
 * - `relayed`: reads the forwards of earlier relays in the member `relayed` of a forward;
 * - `position`: sends its clearing position in heartbeats, and answers a result of a settled task
 *   with the settlement;
 * - `signed_accepted`: signs its acceptance of a result;
 * - `cancel`: accepts `task/cancel`;
 * - `agent_succession`: sends and reads the key successions of agents in answers to queries;
 * - `cancel_notice`: accepts `task/cancel` from the relay that has a task, which has ended there.
 */
export const FEDERATION_FEATURES = [
  "relayed",
  "position",
  "signed_accepted",
  "cancel",
  "agent_succession",
  "cancel_notice",
] as const;

/** The name of a feature. */
export type FederationFeature = (typeof FEDERATION_FEATURES)[number];

/** Returns the known features in `named`, because a peer may name any number of others. */
export function filterKnownFeatures(named: readonly string[]): readonly FederationFeature[] {
  return FEDERATION_FEATURES.filter((word) => named.includes(word));
}

/**
 * Returns whether a peer has named a feature. Other features must not be used with it, so that relays of
 * two versions work together like two relays of the older version.
 */
export function supportsFeature(
  { features }: { readonly features: readonly string[] },
  feature: FederationFeature,
): boolean {
  return features.includes(feature);
}
