import { fromMicro } from "@agent/budget";
import {
  createQuery,
  type Discovery,
  type DiscoveryAnswer,
  isReachable,
  type KnownAgent,
  mergeEntries,
  listUnvisitedPeers,
  planQuery,
  type ReachableAgent,
  type RemoteAgent,
  parseEntries,
  toRemoteAgent,
} from "@agent/federation-protocol/discovery";
import { isUsable } from "@agent/federation-protocol/peering";
import type { Reply } from "../links.ts";
import type { SimRelay } from "./sim-relay.ts";

/** Asks all peers for their agents. */
export function sendDiscovery(relay: SimRelay): void {
  if (!relay.isWorking) return;
  const query = createQuery({}, { self: relay.id, queryId: relay.newId() });
  relay.registerQuery(query.query_id);
  queryPeers(relay, query, () => {});
}

export function receiveDiscovery(
  relay: SimRelay,
  from: string,
  body: Discovery,
  reply: (reply: Reply) => void,
): Reply | undefined {
  if (!relay.isLivePeer(from)) return { status: 403 };
  const isNew = relay.registerQuery(body.query_id);
  const plan = planQuery(body, { self: relay.id, isNew });
  const own = plan.isSearched ? listOwnAgents(relay) : [];
  if (plan.forwardedQuery === null) return { status: 200, body: { agents: own } };
  queryPeers(relay, plan.forwardedQuery, (lists) => {
    const known = lists.map((list) => list.map(toRemoteAgent));
    reply({ status: 200, body: { agents: mergeEntries([own, ...known]) } });
  });
  return undefined;
}

/** Finds the best path to an agent by the peers' answers, through none of the given relays. */
export function findReachableAgent(
  relay: SimRelay,
  agentId: string,
  avoided: readonly string[],
): ReachableAgent | undefined {
  const candidates = [...relay.known]
    .filter(([via]) => relay.isUsablePeer(via) && !avoided.includes(via))
    .map(([, agents]) =>
      agents
        .filter(isReachable)
        .filter((a) => a.agent_id === agentId && !avoided.includes(a.source_relay)),
    );
  return mergeEntries(candidates)[0];
}

function queryPeers(
  relay: SimRelay,
  query: Discovery,
  done: (lists: readonly (readonly KnownAgent[])[]) => void,
): void {
  const peers = [...relay.store.peers.values()].filter(({ record }) => isUsable(record));
  const queriedIds = listUnvisitedPeers(
    peers.map(({ relayId }) => relayId),
    query,
  );
  const lists: (readonly KnownAgent[])[] = [];
  let open = queriedIds.length;
  if (open === 0) done(lists);
  for (const peerId of queriedIds) {
    relay.send(peerId, "discover", query, (delivery, body) => {
      if (delivery.kind === "answered" && delivery.status === 200) {
        const entries = parseEntries(body as DiscoveryAnswer, {
          peer: { relayId: peerId, trust: 0.9, latencyMs: 10 },
          self: relay.id,
          isOwn: (agentId) => relay.workers.has(agentId),
        });
        relay.known.set(peerId, entries);
        lists.push(entries);
      }
      open -= 1;
      if (open === 0) done(lists);
    });
  }
}

function listOwnAgents(relay: SimRelay): RemoteAgent[] {
  return [...relay.workers.values()].map(({ agent, price }) => ({
    agent_id: agent.agentId,
    public_key: agent.publicKey,
    name: "",
    description: "",
    capabilities: [],
    pricing: [],
    trust_level: "verified",
    trust: 0.6,
    cost: fromMicro(price),
    availability: 1,
    latency_ms: 10,
    source_relay: relay.id,
    relay_name: relay.name,
    hop_distance: 0,
  }));
}
