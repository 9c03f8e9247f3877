import { isUuid } from "@agent/crypto";
import { beginQuery, type AgentQuery, type ClaimedAgent } from "@agent/federation-protocol";
import { limits } from "@agent/wire";
import { newId } from "../runtime.ts";
import { askPeers } from "./ask-peers.ts";
import type { FederationServices } from "./federation.ts";

/** Agents of other relays that a query of this relay's own finds, nearest way each. */
export function discoverRemote(
  services: FederationServices,
  { capability, q }: Pick<AgentQuery, "capability" | "q">,
): Promise<readonly ClaimedAgent[]> {
  const { federation, identity, runtime, config } = services;
  return federation.remote.search(JSON.stringify([capability, q]), () => {
    const queryId = newId(runtime);
    // It may come back around a ring.
    federation.queries.take(queryId, runtime.now());
    const query = {
      ...(capability !== undefined && { capability }),
      ...(q !== undefined && { q }),
      limit: limits.pageMax,
    };
    const { maxHops } = config.federation;
    return askPeers(services, beginQuery(query, { self: identity.relayId, queryId, maxHops }));
  });
}

/** What peers tell of one agent: lately, or when they are asked now. */
export async function findRemote(
  services: FederationServices,
  agentId: string,
): Promise<ClaimedAgent | undefined> {
  const { remote } = services.federation;
  // Who was found by what it can do may be claimed by others who cannot.
  if (!isUuid(agentId) || remote.wasAskedFor(agentId)) return remote.get(agentId);
  await discoverRemote(services, { q: agentId });
  remote.noteAskedFor(agentId);
  return remote.get(agentId);
}
