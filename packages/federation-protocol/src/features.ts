/**
 * The words by which a relay names what it can do beyond the first version of this protocol:
 *
 * - `relayed`: it reads the forwards of earlier relays in the member `relayed` of a forward;
 * - `position`: heartbeats carry its clearing position, and a result of a task that it has settled is
 *   answered with the settlement;
 * - `signed_accepted`: it signs its acceptance of a result;
 * - `cancel`: it takes `task/cancel`;
 * - `agent_succession`: its answers to queries carry the succession of its agents' keys, and it reads it.
 */
export const FEDERATION_FEATURES = [
  "relayed",
  "position",
  "signed_accepted",
  "cancel",
  "agent_succession",
] as const;
export type FederationFeature = (typeof FEDERATION_FEATURES)[number];

/** The words of `named` that this version knows; a peer could name any number of others. */
export function filterKnownFeatures(named: readonly string[]): readonly FederationFeature[] {
  return FEDERATION_FEATURES.filter((word) => named.includes(word));
}

/**
 * Whether a peer has named a feature. A feature that it has not named must not be used with it, so
 * that relays of two versions work together as the older one does.
 */
export function supportsFeature(
  { features }: { readonly features: readonly string[] },
  feature: FederationFeature,
): boolean {
  return features.includes(feature);
}
