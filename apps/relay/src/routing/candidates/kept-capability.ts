import { createHash } from "node:crypto";
import type { Candidate, Graph } from "@agent/routing-semiring";
import type { AgentFacts } from "./agent-facts.ts";
import { buildCandidate } from "./build-candidate.ts";
import { DIGEST_BYTES, type DigestList } from "./digest-list.ts";
import type { AskerRecord } from "./weigh-experience.ts";

/** An agent with what an asker without records ranks for its one capability. */
interface KeptAgent {
  readonly facts: AgentFacts;
  /** Undefined if the agent does not sell the capability. */
  candidate: Candidate | undefined;
  /** Whether the SHA-256 of the candidate is known; it is computed when it is first needed. */
  isHashed: boolean;
  /** The agent's node number in the trust graph; -1 before it has one. */
  node: number;
}

/** The candidates of a ranking by agent id. */
export interface CandidateList {
  readonly candidates: Candidate[];
  /** The node number of each in the trust graph, -1 for none. */
  readonly nodes: number[];
  /** Empty unless digests are wanted. */
  readonly digests: DigestList;
}

/** An asker's view of the agents of a capability. */
export interface CapabilityView {
  readonly required: readonly string[];
  /** The records that the asker has of agents, by their places in `KeptCapability`. */
  readonly records: ReadonlyMap<number, AskerRecord>;
  /** The indexes of agents that are not candidates. */
  readonly excluded: ReadonlySet<number>;
  readonly accepts: ((facts: AgentFacts) => boolean) | undefined;
  readonly isOnline: (facts: AgentFacts) => boolean;
  readonly isHashed: boolean;
}

/** The agents with one capability in the order of their ids, ready to be ranked. */
export class KeptCapability {
  readonly #capability: string;
  readonly #graph: Graph;
  readonly #agents: KeptAgent[] = [];
  /** The SHA-256 of each candidate, by its place. */
  #digests = Buffer.alloc(0);
  /** The number of nodes of the graph that have been looked up. */
  #nodeCount = 0;

  constructor(capability: string, graph: Graph) {
    this.#capability = capability;
    this.#graph = graph;
    this.#nodeCount = graph.ids.length;
  }

  get size(): number {
    return this.#agents.length;
  }

  /** Returns the place of an agent, which the next update changes; -1 if it lacks the capability. */
  placeOf(agentId: string): number {
    const place = findPlace(this.#agents, agentId, idOf);
    return this.#agents[place]?.facts.agent_id === agentId ? place : -1;
  }

  /** Adds or replaces an agent, or removes it if it has lost the capability. */
  update(agentId: string, facts: AgentFacts | undefined): void {
    const place = findPlace(this.#agents, agentId, idOf);
    const isKnown = this.#agents[place]?.facts.agent_id === agentId;
    if (facts?.capabilities.includes(this.#capability) !== true) {
      if (isKnown) this.#remove(place);
      return;
    }
    const view = { record: undefined, required: [this.#capability], online: false };
    const candidate = buildCandidate(facts, view);
    const agent = { facts, candidate, isHashed: false, node: this.#graph.findNode(agentId) };
    if (isKnown) this.#agents[place] = agent;
    else this.#insert(place, agent);
  }

  /** Looks up the agents that have become nodes of the graph since the last time. */
  updateNodes(): void {
    const { ids } = this.#graph;
    for (; this.#nodeCount < ids.length; this.#nodeCount += 1) {
      const agent = this.#agents[this.placeOf(ids[this.#nodeCount]!)];
      if (agent !== undefined) agent.node = this.#nodeCount;
    }
  }

  /** Adds the candidates of the agents from `start` to `end` (excluded) to a list. */
  collect(view: CapabilityView, start: number, end: number, list: CandidateList): void {
    const { required, records, excluded, accepts, isOnline, isHashed } = view;
    const isKept = required.length === 1 && required[0] === this.#capability;
    for (let place = start; place < Math.min(end, this.#agents.length); place += 1) {
      if (excluded.has(place)) continue;
      const agent = this.#agents[place]!;
      const { facts } = agent;
      if (accepts?.(facts) === false) continue;
      const online = isOnline(facts);
      const record = records.get(place);
      const candidate =
        isKept && record === undefined
          ? refreshPresence(agent, online)
          : buildCandidate(facts, { record, required, online });
      if (candidate === undefined) continue;
      list.candidates.push(candidate);
      list.nodes.push(agent.node);
      if (isHashed) this.#addDigest(list.digests, place, candidate);
    }
  }

  #addDigest(digests: DigestList, place: number, candidate: Candidate): void {
    const agent = this.#agents[place]!;
    if (candidate !== agent.candidate) return digests.add(hashCandidate(candidate));
    if (!agent.isHashed) this.#digests.set(hashCandidate(candidate), DIGEST_BYTES * place);
    agent.isHashed = true;
    digests.add(this.#digests, DIGEST_BYTES * place);
  }

  #insert(place: number, agent: KeptAgent): void {
    this.#agents.splice(place, 0, agent);
    const end = DIGEST_BYTES * this.#agents.length;
    if (end > this.#digests.length) this.#digests = Buffer.concat([this.#digests], 2 * end);
    this.#digests.copyWithin(DIGEST_BYTES * (place + 1), DIGEST_BYTES * place, end - DIGEST_BYTES);
  }

  #remove(place: number): void {
    this.#agents.splice(place, 1);
    this.#digests.copyWithin(DIGEST_BYTES * place, DIGEST_BYTES * (place + 1));
  }
}

/** Keeps the candidate with its present availability, because it rarely changes between requests. */
function refreshPresence(agent: KeptAgent, online: boolean): Candidate | undefined {
  if (agent.candidate !== undefined && agent.candidate.online !== online) {
    agent.candidate = { ...agent.candidate, online };
    agent.isHashed = false;
  }
  return agent.candidate;
}

/** Returns the SHA-256 of a candidate's JSON, as it stands in a routing record. */
export function hashCandidate(candidate: Candidate): Buffer {
  return createHash("sha256").update(JSON.stringify(candidate)).digest();
}

const idOf = ({ facts }: KeptAgent) => facts.agent_id;

/** Returns the candidate of an agent in a list by agent id. */
export function findCandidate(
  sorted: readonly Candidate[],
  agentId: string,
): Candidate | undefined {
  const found = sorted[findPlace(sorted, agentId, ({ agent_id }) => agent_id)];
  return found?.agent_id === agentId ? found : undefined;
}

/** Returns the index of an id in a sorted list, or the index at which it must be inserted. */
function findPlace<T>(sorted: readonly T[], id: string, toId: (item: T) => string): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (toId(sorted[middle]!) < id) low = middle + 1;
    else high = middle;
  }
  return low;
}
