import { isUuid } from "@agent/crypto";
import {
  createQuery,
  type AgentQuery,
  type ClaimedAgent,
} from "@agent/federation-protocol/discovery";
import { limits } from "@agent/wire";
import { newId } from "../../runtime.ts";
import { queryPeers } from "./query-peers.ts";
import type { FederationServices } from "../federation-services.ts";

/** Agents of other relays that a query of this relay's own finds, nearest way each. */
export function searchRemoteAgents(
  services: FederationServices,
  { capability, q }: Pick<AgentQuery, "capability" | "q">,
): Promise<readonly ClaimedAgent[]> {
  const { federation, identity, runtime, config } = services;
  return federation.remoteAgents.search(JSON.stringify([capability, q]), () => {
    const queryId = newId(runtime);
    // It may come back around a ring.
    federation.seenQueries.add(queryId, runtime.now());
    const query = {
      ...(capability !== undefined && { capability }),
      ...(q !== undefined && { q }),
      limit: limits.maxPageSize,
    };
    const { maxHops } = config.federation;
    return queryPeers(services, createQuery(query, { self: identity.relayId, queryId, maxHops }));
  });
}

/** What peers tell of one agent: lately, or when they are asked now. */
export async function findRemoteAgent(
  services: FederationServices,
  agentId: string,
): Promise<ClaimedAgent | undefined> {
  const { remoteAgents: remote } = services.federation;
  // Who was found by what it can do may be claimed by others who cannot.
  if (!isUuid(agentId) || remote.wasQueried(agentId)) return remote.get(agentId);
  await searchRemoteAgents(services, { q: agentId });
  remote.markQueried(agentId);
  return remote.get(agentId);
}
