import type { PeerOperations } from "@agent/federation-protocol/http";
import {
  boundSuccessions,
  mergeEntries,
  planQuery,
  toRemoteAgent,
  type Discovery,
} from "@agent/federation-protocol/discovery";
import { limits, type Answer } from "@agent/wire";
import type { FederationPeerRow } from "../../storage/tables/federation.ts";
import { queryPeers } from "./query-peers.ts";
import type { FederationServices } from "../federation-services.ts";
import { peerSupports } from "../peers/peer-state.ts";
import { searchLocalAgents } from "./search-local-agents.ts";

/** Answers a peer's query: visible local agents first, then those that other peers report. */
export async function receiveDiscovery(
  services: FederationServices,
  peer: FederationPeerRow,
  message: Discovery,
): Promise<Answer<PeerOperations["forwardDiscovery"]>> {
  const { federation, identity, runtime, config } = services;
  const isNew = await federation.seenQueries.add(message.query_id, runtime.now());
  const { isSearched, query, forwardedQuery } = planQuery(message, {
    self: identity.relayId,
    isNew,
    maxHops: config.federation.maxHops,
  });
  const local = isSearched ? await searchLocalAgents(services, query) : [];
  const remote =
    forwardedQuery === null
      ? []
      : (await queryPeers(services, forwardedQuery))().map(toRemoteAgent);
  const found = mergeEntries([local, remote]).slice(0, query.limit ?? limits.maxPageSize);
  const agents = boundSuccessions(found, { isRead: peerSupports(peer, "agent_succession") });
  federation.log.debug("federation.query.answered", {
    query_id: message.query_id,
    searched: isSearched,
    passed_on: forwardedQuery !== null,
    agents: agents.length,
  });
  return { status: 200, body: { agents } };
}
