import { type TrustLevel, getTrustScore } from "@agent/routing-semiring";
import * as v from "valibot";
import { FEDERATION_LIMITS } from "../limits.ts";
import { type RemoteAgent, RemoteAgentSchema } from "../messages/discovery.ts";
import { judgeKeyProof, SUCCESSION_LIMITS } from "./agent-succession.ts";

/** An agent of another relay: where it was learned of, and what the way there costs. */
export type KnownAgent = RemoteAgent & {
  readonly trust: number;
  /** The peer whose answer it stood in: the next hop towards it. */
  readonly via: string;
  readonly source_relay: string;
};

/** An agent whose key is known, so that its results can be verified. */
export type ReachableAgent = KnownAgent & { readonly public_key: string };

/** Whether tasks can be sent to an agent, and not only seen that it is there. */
export function isReachable(agent: KnownAgent): agent is ReachableAgent {
  return agent.public_key !== null;
}

/** The relay's own figures of a peer: 0..1, and ms. */
export interface PeerAttributes {
  readonly relayId: string;
  readonly trust: number;
  readonly latencyMs: number;
  /** Whether the peer tells how its own agents came to their keys; see `agent_succession`. */
  readonly tellsSuccession?: boolean;
}

/**
 * The entries of a peer's answer that count: at most 200, each judged alone, without agents that
 * this relay knows itself, and without those of version 8 whose key is not that of their id. Distances are counted anew from here, at least 1; trust is multiplied by
 * the peer's and latency added to it, so that a way is never better than its worst part.
 */
export function parseEntries(
  answer: { readonly agents: readonly unknown[] },
  {
    peer,
    self,
    isOwn,
  }: {
    readonly peer: PeerAttributes;
    readonly self: string;
    readonly isOwn: (agentId: string) => boolean;
  },
): KnownAgent[] {
  return answer.agents
    .slice(0, FEDERATION_LIMITS.maxEntriesPerAnswer)
    .filter((entry) => v.is(RemoteAgentSchema, entry))
    .map((entry) => v.parse(RemoteAgentSchema, entry))
    .filter((agent) => !isOwn(agent.agent_id) && agent.source_relay !== self)
    .flatMap(provenBy(peer))
    .map((agent) => ({
      ...agent,
      source_relay: agent.source_relay ?? peer.relayId,
      hop_distance: getHopDistance(agent, peer.relayId),
      trust: getEntryTrust(agent) * peer.trust,
      latency_ms: (agent.latency_ms ?? 0) + peer.latencyMs,
      via: peer.relayId,
    }));
}

/**
 * Leaves out each entry whose chain does not lead to its key, and an agent of the peer's own without one
 * if the peer tells them. A chain that proves nothing is dropped. Peers that tell no chains, and those
 * that pass such a word on, are believed as before ids proved themselves.
 */
function provenBy({ relayId, tellsSuccession = false }: PeerAttributes) {
  let budget: number = SUCCESSION_LIMITS.recordsPerAnswer;
  return (agent: RemoteAgent): RemoteAgent[] => {
    const { succession: _, ...entry } = agent;
    const { proof, chain } = judgeKeyProof(agent, budget);
    budget -= chain.length;
    if (proof === "refuted") return [];
    const isOwn = (agent.source_relay ?? relayId) === relayId;
    if (proof === "unproven" && isOwn && tellsSuccession) return [];
    return [proof === "proven" && chain.length > 0 ? { ...entry, succession: [...chain] } : entry];
  };
}

/**
 * Lists of entries as one: an agent once, by the least distance, then the most trusted way, then the
 * relay that is first by id; so the order of the lists does not matter.
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

/** An entry as it is handed on in an answer, from known members alone. */
export function toRemoteAgent(known: KnownAgent & { readonly rivals?: unknown }): RemoteAgent {
  const { via: _, rivals: __, ...agent } = known;
  return agent;
}

/** A peer that tells no figure is taken by the level that it names. */
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

/** A peer's own agents are one hop away, whatever it calls them; all others at least two. */
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
