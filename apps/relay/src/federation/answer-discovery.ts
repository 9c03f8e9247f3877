import {
  boundSuccessions,
  mergeEntries,
  planQuery,
  toAnswer,
  type Discovery,
} from "@agent/federation-protocol";
import { limits, type Answer, type Operations } from "@agent/wire";
import type { FederationPeerRow } from "../storage/tables/federation.ts";
import { askPeers } from "./ask-peers.ts";
import type { FederationServices } from "./federation.ts";
import { peerSupports } from "./peer-life.ts";
import { searchLocally } from "./local-search.ts";

/** Answers a peer's query: its own visible agents first, then those that its peers tell of. */
export async function answerDiscovery(
  services: FederationServices,
  peer: FederationPeerRow,
  message: Discovery,
): Promise<Answer<Operations["forwardDiscovery"]>> {
  const { federation, identity, runtime, config } = services;
  const isNew = federation.queries.take(message.query_id, runtime.now());
  const { search, query, pass } = planQuery(message, {
    self: identity.relayId,
    isNew,
    maxHops: config.federation.maxHops,
  });
  const local = search ? await searchLocally(services, query) : [];
  const remote = pass === null ? [] : (await askPeers(services, pass))().map(toAnswer);
  const found = mergeEntries([local, remote]).slice(0, query.limit ?? limits.pageMax);
  const agents = boundSuccessions(found, { isRead: peerSupports(peer, "agent_succession") });
  federation.log.debug("federation.query.answered", {
    query_id: message.query_id,
    searched: search,
    passed_on: pass !== null,
    agents: agents.length,
  });
  return { status: 200, body: { agents } };
}
