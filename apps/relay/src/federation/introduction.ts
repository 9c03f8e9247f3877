import type { Introduction } from "@agent/federation-protocol";
import type { FederationServices } from "./federation.ts";
import { OWN_FEATURES } from "./own-features.ts";

/** What this relay tells of itself to another. */
export function ownIntroduction({
  identity,
  config,
  federation,
}: Pick<FederationServices, "identity" | "config" | "federation">): Introduction {
  return {
    relayId: identity.relayId,
    publicKey: identity.publicKey,
    endpointUrl: federation.endpointUrl,
    displayName: config.identity.relayName,
    features: OWN_FEATURES,
  };
}
