import { FEDERATION_LIMITS } from "../limits.ts";
import type { AgentQuery, Discovery } from "../messages/discovery.ts";

/** A relay's decision about a query: whether to search its own agents, and which peers to forward it to. */
export interface QueryPlan {
  /** False for a repeated query: its answer is empty. */
  readonly isSearched: boolean;
  readonly query: AgentQuery;
  /** The query for the peers in `to`; null if it is not forwarded. */
  readonly forwardedQuery: Discovery | null;
}

/** Creates the body that a relay sends to its peers for a query of its own. */
export function createQuery(
  query: AgentQuery,
  {
    self,
    queryId,
    maxHops = FEDERATION_LIMITS.maxHops,
  }: { readonly self: string; readonly queryId: string; readonly maxHops?: number },
): Discovery {
  return {
    ...query,
    hop_count: 0,
    max_hops: Math.min(maxHops, FEDERATION_LIMITS.maxHops),
    visited: [self],
    query_id: queryId,
    origin_relay: self,
  };
}

/**
 * Plans the handling of a peer's query (specification, "Federation endpoints"). A query is not forwarded if
 * this relay is among the visited ones, if its hops are used up (never more than 3, whatever it requests),
 * or if it is a repetition. The forwarded query is built only from known members; a query that names no origin
 * began at the first relay that it visited.
 */
export function planQuery(
  message: Discovery,
  {
    self,
    isNew,
    maxHops = FEDERATION_LIMITS.maxHops,
    limit = FEDERATION_LIMITS.maxEntriesPerAnswer,
  }: {
    readonly self: string;
    /** Whether `query_id` was not processed in the last 30 seconds. */
    readonly isNew: boolean;
    readonly maxHops?: number;
    /** The maximum number of entries in an answer. */
    readonly limit?: number;
  },
): QueryPlan {
  const query = normalizeQuery(message, limit);
  const hopLimit = Math.min(message.max_hops, maxHops, FEDERATION_LIMITS.maxHops);
  const isForwarded = isNew && !message.visited.includes(self) && message.hop_count < hopLimit;
  const visited = [...new Set([...message.visited, self])];
  const forwardedQuery = {
    ...query,
    hop_count: message.hop_count + 1,
    max_hops: hopLimit,
    visited,
    query_id: message.query_id,
    origin_relay: message.origin_relay ?? visited[0] ?? self,
  };
  return { isSearched: isNew, query, forwardedQuery: isForwarded ? forwardedQuery : null };
}

/** Returns the peers to which a query is sent: all except its sender and those it has visited. */
export function listUnvisitedPeers(peerIds: readonly string[], { visited }: Discovery): string[] {
  return peerIds.filter((id) => !visited.includes(id));
}

function normalizeQuery(
  { query, capability, q, limit }: Discovery,
  maxEntries: number,
): AgentQuery {
  const filters = { capability: capability ?? query?.capability, q: q ?? query?.q };
  const requestedLimit = Math.min(limit ?? query?.limit ?? maxEntries, maxEntries);
  return {
    ...(filters.capability !== undefined && { capability: filters.capability }),
    ...(filters.q !== undefined && { q: filters.q }),
    limit: Math.max(1, requestedLimit),
  };
}
