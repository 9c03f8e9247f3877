import { FEDERATION_FEATURES } from "@agent/federation-protocol";
import type { RelayDescription } from "@agent/federation-protocol/peering";
import type { FederationServices } from "../federation-services.ts";

/** Builds the description of this relay that it sends to others. */
export function buildSelfDescription({
  identity,
  config,
  federation,
}: Pick<FederationServices, "identity" | "config" | "federation">): RelayDescription {
  return {
    relayId: identity.relayId,
    publicKey: identity.publicKey,
    endpointUrl: federation.endpointUrl,
    displayName: config.identity.relayName,
    features: FEDERATION_FEATURES,
  };
}
