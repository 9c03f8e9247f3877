import { FEDERATION_LIMITS } from "../limits.ts";
import type { AgentQuery, Discovery } from "../messages/discovery.ts";

/** What a relay does with a query: search its own agents, and pass it on. */
export interface QueryPlan {
  /** False for a repeated query: its answer is empty. */
  readonly isSearched: boolean;
  readonly query: AgentQuery;
  /** What goes to the peers in `to`; null when the query ends here. */
  readonly forwardedQuery: Discovery | null;
}

/** The body that a relay sends to its peers for a query that began with it. */
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
 * What becomes of a peer's query (specification, "Federation endpoints"): not passed on when this
 * relay is among the visited, when the hops are used up (never more than 3, whatever it says), or
 * when the query is a repetition. What is passed on is built anew from known members.
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
    /** The most entries of an answer. */
    readonly limit?: number;
  },
): QueryPlan {
  const query = normalizeQuery(message, limit);
  const hopLimit = Math.min(message.max_hops, maxHops, FEDERATION_LIMITS.maxHops);
  const isForwarded = isNew && !message.visited.includes(self) && message.hop_count < hopLimit;
  const forwardedQuery = {
    ...query,
    hop_count: message.hop_count + 1,
    max_hops: hopLimit,
    visited: [...new Set([...message.visited, self])],
    query_id: message.query_id,
    origin_relay: message.origin_relay,
  };
  return { isSearched: isNew, query, forwardedQuery: isForwarded ? forwardedQuery : null };
}

/** The peers that a query goes to: none that it came from or has visited. */
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
