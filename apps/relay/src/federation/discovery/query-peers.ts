import {
  DiscoveryAnswerSchema,
  computePeerReliability,
  getClaimLimit,
  mergeEntries,
  listUnvisitedPeers,
  parseEntries,
  type ClaimedAgent,
  type Discovery,
  type KnownAgent,
} from "@agent/federation-protocol/discovery";
import { limits } from "@agent/wire";
import * as v from "valibot";
import { listKnownAgents } from "../../agents/store.ts";
import { calculateElapsed } from "../../clock/calculate-elapsed.ts";
import type { Runtime } from "../../runtime.ts";
import type { FederationPeerRow } from "../../storage/tables/federation.ts";
import { scoreOfLevel, UNKNOWN } from "../../trust/levels.ts";
import { findHistory, findTrust } from "../../trust/store.ts";
import { withRecipient, callPeer } from "../transport/call-peer.ts";
import type { FederationServices } from "../federation-services.ts";
import { peerPayerRef } from "../peer-ref.ts";
import { keepOnly } from "../peers/keep-only.ts";
import { peerSupports } from "../peers/peer-state.ts";
import { listPeers } from "../peers/peer-store.ts";
import type { DiscoveredAgents } from "./remote-agents.ts";

/**
 * Sends a query to every active peer that it has not visited, and records the valid entries of the answers.
 * All peers share one short timeout, so that an unresponsive peer delays no caller. A peer that timed out
 * is still queried, and is awaited again once it has answered. A peer that has reached its limit of queries
 * per minute is skipped, like one that does not answer.
 */
export async function queryPeers(
  services: FederationServices,
  query: Discovery,
  {
    isIncluded = () => true,
    maxQueries = limits.federationQueries,
  }: {
    readonly isIncluded?: (peer: FederationPeerRow) => boolean;
    /** The queries of a minute to one peer beyond which it is left out. */
    readonly maxQueries?: number;
  } = {},
): Promise<DiscoveredAgents> {
  const { federation, runtime, storage } = services;
  const active = (await listPeers(storage.read)).filter(
    (peer) => peer.state === "active" && isIncluded(peer),
  );
  const ids = active.map(({ relay_id }) => relay_id);
  const selectedIds = new Set(listUnvisitedPeers(ids, query));
  const entries: KnownAgent[] = [];
  const waiting = new Map<string, Promise<void>>();

  async function collectAnswer(peer: FederationPeerRow): Promise<void> {
    try {
      const agents = await queryPeer(services, peer, query);
      federation.remoteAgents.record(agents, { isAdmitted: peer.admitted === 1 });
      entries.push(...agents);
    } catch (error) {
      const { relay_id } = peer;
      federation.log.error("federation.discover_failed", { relay_id, error: String(error) });
    }
    waiting.delete(peer.relay_id);
  }

  for (const peer of active.filter(({ relay_id }) => selectedIds.has(relay_id))) {
    const { relay_id } = peer;
    if (!federation.queryLimiter.take(maxQueries, limits.rateWindowMs, relay_id).allowed) continue;
    waiting.set(relay_id, collectAnswer(peer));
  }
  const isResponsive = ({ relay_id, missed_heartbeats }: FederationPeerRow) =>
    missed_heartbeats === 0 && !federation.unresponsivePeers.has(relay_id);
  const responsive = active
    .filter(isResponsive)
    .flatMap(({ relay_id }) => waiting.get(relay_id) ?? []);
  // The asking relay waits for the peers of its peers as well.
  const ms = (query.max_hops - query.hop_count + 1) * limits.federationGraceMs;
  if (!(await finishesWithin(runtime, ms, Promise.all(responsive)))) {
    for (const relayId of waiting.keys()) federation.unresponsivePeers.add(relayId);
    keepOnly(federation.unresponsivePeers, await listPeers(storage.read));
  }
  return () => resolveEntries(federation, entries);
}

/**
 * Returns one entry for each agent of an answer, under the key that follows from what all peers have
 * reported about its id. Omits an agent that this answer has only under another key.
 */
function resolveEntries(
  { remoteAgents: remote }: FederationServices["federation"],
  entries: readonly KnownAgent[],
): readonly ClaimedAgent[] {
  const byId = Map.groupBy(entries, ({ agent_id }) => agent_id);
  const agents = [...byId].flatMap(([agentId, claims]): ClaimedAgent[] => {
    const claimed = remote.get(agentId);
    const [nearest] = mergeEntries([claims]);
    if (claimed === undefined || nearest === undefined) return [];
    const same = claims.filter(({ public_key }) => public_key === claimed.public_key);
    const [best = nearest] = mergeEntries([same]);
    if (same.length === 0 && claimed.id_conflict !== true) return [];
    const { id_conflict: _, ...entry } = same.find(({ via }) => via === claimed.via) ?? best;
    const { rivals, id_conflict } = claimed;
    return [{ ...entry, ...(id_conflict && { id_conflict }), rivals }];
  });
  return agents.toSorted((a, b) => (a.agent_id < b.agent_id ? -1 : 1));
}

/** Resolves to whether a promise settles within `ms`; its work continues in any case. */
function finishesWithin(
  { schedule }: Pick<Runtime, "schedule">,
  ms: number,
  work: Promise<unknown>,
): Promise<boolean> {
  return new Promise((resolve) => {
    const cancel = schedule(ms, () => resolve(false));
    void work.then(() => {
      cancel();
      resolve(true);
    });
  });
}

async function queryPeer(
  services: FederationServices,
  peer: FederationPeerRow,
  query: Discovery,
): Promise<readonly KnownAgent[]> {
  const { identity, runtime, storage, federation, config } = services;
  const { relay_id } = peer;
  const startedAt = runtime.now();
  const { delivery, body } = await callPeer(services, peer, {
    method: "POST",
    path: "/federation/v1/discover",
    body: withRecipient(services, peer, query),
    timeoutMs: (query.max_hops - query.hop_count + 1) * limits.federationHopMs,
  });
  if (delivery.kind !== "answered") return [];
  federation.unresponsivePeers.delete(relay_id);
  const answer = v.safeParse(DiscoveryAnswerSchema, delivery.status === 200 ? body : undefined);
  if (!answer.success) return [];
  const latencyMs = calculateElapsed(startedAt, runtime.now());
  const agents = answer.output.agents.slice(0, limits.maxPageSize);
  const [trust, paid, localIds] = await Promise.all([
    findTrust(storage.read, identity.relayId, relay_id),
    findHistory(storage.read, peerPayerRef(relay_id)),
    listKnownAgents(storage.read, agents.map(agentIdOf)),
  ]);
  const local = new Set(localIds);
  // The fees of tasks sent to the peer and of tasks received from it.
  const fees = (trust?.fees_kept ?? 0) + (paid?.fees_paid ?? 0);
  const sendsSuccession = peerSupports(peer, "agent_succession");
  return parseEntries(
    { agents },
    {
      peer: {
        relayId: relay_id,
        trust: scoreOfLevel(trust?.trust_level ?? UNKNOWN),
        reliability: computePeerReliability({
          successes: trust?.successful_tasks ?? 0,
          failures: trust?.failed_tasks ?? 0,
        }),
        latencyMs,
        claimLimit: getClaimLimit(fees, config.trust.thresholds),
        sendsSuccession,
      },
      self: identity.relayId,
      isOwn: (id) => local.has(id),
      capability: query.capability,
    },
  );
}

function agentIdOf(entry: unknown): string {
  const id = (entry as { agent_id?: unknown } | null)?.agent_id;
  return typeof id === "string" ? id : "";
}
