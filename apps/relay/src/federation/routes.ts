import { FEDERATION_FEATURES } from "@agent/federation-protocol";
import type { Handlers } from "../http/handler.ts";
import { toSuccessionMember } from "../identity/relay-identity.ts";
import type { Services } from "../services.ts";
import { registerFederationMetrics } from "./metrics.ts";
import { operatorHandlers } from "./operator-handlers.ts";
import { peerHandlers } from "./peer-handlers.ts";
import type { PeerAuthOptions } from "./transport/authenticate-peer.ts";

/** Returns the handlers for peers and those for the operator's operations on peers. */
export function federationHandlers(services: Services, parts: PeerAuthOptions) {
  const { identity, freezer, federation, metrics } = services;
  if (federation !== undefined) registerFederationMetrics(metrics.registry, services, federation);
  return {
    relayIdentity: () => {
      const { relayId: agent_id, publicKey: public_key, did } = identity;
      const { incarnation } = freezer;
      const features = [...FEDERATION_FEATURES];
      const stated = toSuccessionMember(identity);
      const body = { agent_id, public_key, did, features, incarnation, ...stated };
      return { status: 200 as const, body };
    },
    ...peerHandlers(services, parts),
    ...operatorHandlers(services),
  } satisfies Partial<Handlers>;
}
