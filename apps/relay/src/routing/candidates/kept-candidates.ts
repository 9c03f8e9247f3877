import type { Steps } from "@agent/routing-semiring";
import { findProfile, listProfilePage } from "../../agents/discovery/profile-store.ts";
import type { Connections } from "../../realtime/connections.ts";
import type { Runtime } from "../../runtime.ts";
import type { Reader, Storage } from "../../storage/storage.ts";
import type { TrustGraph } from "../trust-graph.ts";
import { listAskerRecords } from "./asker-records.ts";
import { parseAgentFacts } from "./agent-facts.ts";
import { collectCandidates, type CandidateQuery } from "./collect-candidates.ts";
import { KeptCapability, type CandidateList } from "./kept-capability.ts";
import { createTurns } from "../../storage/create-turns.ts";
import { runWithPauses } from "../../storage/run-with-pauses.ts";
import { yieldToEventLoop } from "../../storage/yield-to-event-loop.ts";

/** The agents of each capability that was asked for, kept in memory ready to be ranked. */
export interface KeptCandidates {
  /**
   * Ranks the local agents that can do a task, in the steps of `rank` with pauses for other work. One
   * ranking runs at a time, so that neither candidates nor the trust graph change before it ends.
   */
  rankInTurn<T>(query: CandidateQuery, rank: (list: CandidateList) => Steps<T>): Promise<T>;
  /** Reads agents again before the next ranking; needed only for changes of another process. */
  invalidate(agentIds: Iterable<string> | "all"): void;
}

interface KeptCandidatesDependencies {
  readonly storage: Pick<Storage, "read" | "onAgentsChanged">;
  readonly runtime: Pick<Runtime, "now">;
  readonly connections: Pick<Connections, "isOnline">;
  readonly trustGraph: Pick<TrustGraph, "graph" | "hold">;
}

/** Agents that are read between two pauses: about two milliseconds. */
const AGENTS_PER_READ = 128;

const MAX_CAPABILITIES = 1_000;
const MAX_AGENTS = 500_000;

/** Candidates that are ranked between two pauses, by one ranking or by several short ones. */
const CANDIDATES_PER_PAUSE = 4_096;

/** With more changes than this since the last ranking, reading everything again costs no more. */
const MAX_CHANGED = 50_000;

/**
 * Creates an empty store of candidates. What a commit changes is read again before the next ranking, so
 * that a ranking sees every change that was acknowledged before it.
 */
export function createKeptCandidates({
  storage,
  runtime,
  connections,
  trustGraph,
}: KeptCandidatesDependencies): KeptCandidates {
  /** Least recently used first. */
  let kept = new Map<string, KeptCapability>();
  let changed = new Set<string>();
  const runInTurn = createTurns();
  const pauseBefore = createPauses();

  function dropAll(): void {
    // A turn that is loading adds its capability to the former map.
    kept = new Map();
    changed = new Set();
  }

  function invalidate(agentIds: Iterable<string> | "all"): void {
    if (agentIds === "all") return dropAll();
    for (const agentId of agentIds) changed.add(agentId);
    if (changed.size > MAX_CHANGED) dropAll();
  }

  storage.onAgentsChanged(invalidate);

  async function refresh(): Promise<void> {
    const agentIds = changed;
    changed = new Set();
    try {
      await readAgain(storage.read, agentIds, kept);
    } catch (error) {
      invalidate(agentIds);
      throw error;
    }
  }

  async function load(name: string): Promise<KeptCapability> {
    const map = kept;
    const capability =
      map.get(name) ?? (await loadCapability(storage.read, name, trustGraph.graph));
    // An unknown capability is not kept, or made-up ones would displace others.
    if (capability.size > 0) {
      map.delete(name);
      map.set(name, capability);
      dropLeastUsed(map);
    }
    return capability;
  }

  async function takeTurn<T>(
    query: CandidateQuery,
    rank: (list: CandidateList) => Steps<T>,
  ): Promise<T> {
    const [name = ""] = query.required;
    await refresh();
    const capability = await load(name);
    await pauseBefore(capability.size);
    const records = await listAskerRecords(storage.read, query.askerId, name);
    const release = trustGraph.hold();
    try {
      const presence = { connections, now: runtime.now() };
      const list = await runWithPauses(collectCandidates(capability, query, records, presence));
      return await runWithPauses(rank(list));
    } finally {
      release();
    }
  }

  return {
    rankInTurn: (query, rank) => runInTurn(() => takeTurn(query, rank)),
    invalidate,
  };
}

/** Returns a function that pauses before a ranking if enough candidates were ranked since the last pause. */
function createPauses(): (candidates: number) => Promise<void> {
  let ranked = 0;
  return async (candidates) => {
    if (ranked >= CANDIDATES_PER_PAUSE) {
      ranked = 0;
      await yieldToEventLoop();
    }
    ranked += candidates;
  };
}

async function readAgain(
  read: Reader,
  agentIds: Iterable<string>,
  capabilities: ReadonlyMap<string, KeptCapability>,
): Promise<void> {
  let reads = 0;
  for (const agent_id of agentIds) {
    const row = await findProfile(read, { reader: "", agent_id });
    const facts = row && parseAgentFacts(row);
    for (const capability of capabilities.values()) capability.update(agent_id, facts);
    reads += 1;
    if (reads % AGENTS_PER_READ === 0) await yieldToEventLoop();
  }
}

async function loadCapability(
  read: Reader,
  name: string,
  graph: TrustGraph["graph"],
): Promise<KeptCapability> {
  const capability = new KeptCapability(name, graph);
  for (let after: string | undefined = ""; after !== undefined;) {
    const page = { capability: name, after, limit: AGENTS_PER_READ };
    const rows = await listProfilePage(read, page);
    for (const row of rows) capability.update(row.agent_id, parseAgentFacts(row));
    after = rows.length < AGENTS_PER_READ ? undefined : rows.at(-1)?.agent_id;
    if (after !== undefined) await yieldToEventLoop();
  }
  return capability;
}

function dropLeastUsed(kept: Map<string, KeptCapability>): void {
  let agents = 0;
  for (const capability of kept.values()) agents += capability.size;
  for (const [name, { size }] of kept) {
    const isWithin = kept.size <= MAX_CAPABILITIES && agents <= MAX_AGENTS;
    if (isWithin || kept.size === 1) return;
    kept.delete(name);
    agents -= size;
  }
}
