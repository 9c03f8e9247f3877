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

/** Finds remote agents that match a query of this relay, each with its shortest route. */
export function searchRemoteAgents(
  services: FederationServices,
  { capability, q }: Pick<AgentQuery, "capability" | "q">,
): Promise<readonly ClaimedAgent[]> {
  const { federation, identity, runtime, config } = services;
  return federation.remoteAgents.search(JSON.stringify([capability, q]), async () => {
    const queryId = newId(runtime);
    // In a ring of peers the query may return to this relay.
    await federation.seenQueries.add(queryId, runtime.now());
    const query = {
      ...(capability !== undefined && { capability }),
      ...(q !== undefined && { q }),
      limit: limits.maxPageSize,
    };
    const { maxHops } = config.federation;
    return queryPeers(services, createQuery(query, { self: identity.relayId, queryId, maxHops }));
  });
}

/** Returns what peers report of one agent: from the cache, or by a query. */
export async function findRemoteAgent(
  services: FederationServices,
  agentId: string,
): Promise<ClaimedAgent | undefined> {
  const { remoteAgents: remote } = services.federation;
  // An id that was found by its capability may also be claimed by agents without that capability.
  if (!isUuid(agentId) || remote.wasQueried(agentId)) return remote.get(agentId);
  await searchRemoteAgents(services, { q: agentId });
  remote.markQueried(agentId);
  return remote.get(agentId);
}
