import { type TrustLevel, getTrustScore } from "@agent/routing-semiring";
import * as v from "valibot";
import { FEDERATION_LIMITS } from "../limits.ts";
import { type RemoteAgent, RemoteAgentSchema } from "../messages/discovery.ts";
import { checkKeyProof, SUCCESSION_LIMITS } from "./agent-succession.ts";
import { limitClaim, type ClaimLimit } from "./claim-limit.ts";

/** An agent of another relay with the peer that named it and the costs of the path. */
export type KnownAgent = RemoteAgent & {
  readonly trust: number;
  /** The peer whose answer contained it: the next hop towards it. */
  readonly via: string;
  readonly source_relay: string;
  /** The trust in that peer, from 0 to 1, by which `trust` was multiplied; 1 if absent. */
  readonly peer_trust?: number;
  /** The reliability of that peer by this relay's own record of it, from 0 to 1; 1 if absent. */
  readonly peer_reliability?: number;
};

/** An agent whose key is known, so that its results can be verified. */
export type ReachableAgent = KnownAgent & { readonly public_key: string };

/** Returns whether tasks can be sent to an agent, for which its key must be known. */
export function isReachable(agent: KnownAgent): agent is ReachableAgent {
  return agent.public_key !== null;
}

/** The relay's own measurements of a peer: trust and reliability 0..1, latency in ms. */
export interface PeerAttributes {
  readonly relayId: string;
  readonly trust: number;
  readonly latencyMs: number;
  /** 1 if absent; see `computePeerReliability`. */
  readonly reliability?: number;
  /** The highest level that its claims count as; `trusted` if absent. See `getClaimLimit`. */
  readonly claimLimit?: ClaimLimit;
  /** Whether the peer sends the key successions of its own agents; see `agent_succession`. */
  readonly sendsSuccession?: boolean;
}

/**
 * Returns the valid entries of a peer's answer: at most 200, each checked separately, without agents of
 * this relay, without version 8 ids whose key they do not prove, and only those that have the capability
 * that was asked for, because nothing obliges a peer to filter. Distances are counted from this relay
 * and are at least 1. Trust is limited, then multiplied by the peer's, and the peer's latency is added, so
 * that a path is never better than its worst part.
 */
export function parseEntries(
  answer: { readonly agents: readonly unknown[] },
  {
    peer,
    self,
    isOwn,
    capability,
  }: {
    readonly peer: PeerAttributes;
    readonly self: string;
    readonly isOwn: (agentId: string) => boolean;
    /** The capability of the query; undefined if it asked for any. */
    readonly capability?: string | undefined;
  },
): KnownAgent[] {
  return answer.agents
    .slice(0, FEDERATION_LIMITS.maxEntriesPerAnswer)
    .filter((entry) => v.is(RemoteAgentSchema, entry))
    .map((entry) => v.parse(RemoteAgentSchema, entry))
    .filter((agent) => !isOwn(agent.agent_id) && agent.source_relay !== self)
    .filter(({ capabilities }) => capability === undefined || capabilities.includes(capability))
    .flatMap(createProofFilter(peer))
    .map((agent) =>
      limitClaim({ ...agent, trust: getEntryTrust(agent) }, peer.claimLimit ?? "trusted"),
    )
    .map((agent) => ({
      ...agent,
      source_relay: agent.source_relay ?? peer.relayId,
      hop_distance: getHopDistance(agent, peer.relayId),
      trust: agent.trust * peer.trust,
      peer_trust: peer.trust,
      latency_ms: (agent.latency_ms ?? 0) + peer.latencyMs,
      via: peer.relayId,
      ...(peer.reliability !== undefined && { peer_reliability: peer.reliability }),
    }));
}

/**
 * Removes each entry whose chain does not lead to its key and, if the peer sends chains for its own agents,
 * each of these without one. A chain that proves nothing is removed from its entry. Entries of peers that
 * send no chains, and entries that such peers pass on, are accepted without proof.
 */
function createProofFilter({ relayId, sendsSuccession = false }: PeerAttributes) {
  let budget: number = SUCCESSION_LIMITS.recordsPerAnswer;
  return (agent: RemoteAgent): RemoteAgent[] => {
    const { succession: _, ...entry } = agent;
    const { proof, chain } = checkKeyProof(agent, budget);
    budget -= chain.length;
    if (proof === "refuted") return [];
    const isOwn = (agent.source_relay ?? relayId) === relayId;
    if (proof === "unproven" && isOwn && sendsSuccession) return [];
    return [proof === "proven" && chain.length > 0 ? { ...entry, succession: [...chain] } : entry];
  };
}

/**
 * Merges lists of entries. For each agent the entry with the smallest distance is kept; ties are broken by
 * the highest trust, then by the lowest relay id, so the order of the lists does not matter.
 */
export function mergeEntries<Entry extends RemoteAgent & { readonly via?: string }>(
  lists: Iterable<readonly Entry[]>,
): Entry[] {
  const best = new Map<string, Entry>();
  for (const list of lists) {
    for (const entry of list) {
      const current = best.get(entry.agent_id);
      if (current === undefined || isNearer(entry, current)) best.set(entry.agent_id, entry);
    }
  }
  return [...best.values()].toSorted((a, b) => (a.agent_id < b.agent_id ? -1 : 1));
}

/** Returns an entry for an answer, built only from known members. */
export function toRemoteAgent(known: KnownAgent & { readonly rivals?: unknown }): RemoteAgent {
  const { via: _, rivals: __, peer_trust: ___, peer_reliability: ____, ...agent } = known;
  return agent;
}

/** An entry without a trust value gets that of its trust level. */
function getEntryTrust({ trust, trust_level }: RemoteAgent): number {
  const level = LEVELS.find((known) => known === trust_level) ?? "unknown";
  return trust ?? getTrustScore(level);
}

const LEVELS: readonly TrustLevel[] = [
  "unknown",
  "first_contact",
  "verified",
  "trusted",
  "blocked",
];

/** A peer's own agents are one hop away, whatever distance it states; all others at least two. */
function getHopDistance({ source_relay, hop_distance }: RemoteAgent, peerId: string): number {
  if (source_relay === undefined || source_relay === peerId) return 1;
  const claimed = Number.isSafeInteger(hop_distance) ? hop_distance : 1;
  return Math.max(1, claimed) + 1;
}

function isNearer<Entry extends RemoteAgent & { readonly via?: string }>(a: Entry, b: Entry) {
  if (a.hop_distance !== b.hop_distance) return a.hop_distance < b.hop_distance;
  const [trustOfA, trustOfB] = [getEntryTrust(a), getEntryTrust(b)];
  if (trustOfA !== trustOfB) return trustOfA > trustOfB;
  return (a.via ?? "") < (b.via ?? "");
}
