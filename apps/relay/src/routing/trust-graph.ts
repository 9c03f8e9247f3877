import { Graph, Routes, type Edge } from "@agent/routing-semiring";
import type { Reader } from "../storage/storage.ts";
import type { TrustRecordRow } from "../storage/tables/trust.ts";
import { BLOCKED, scoreOfLevel } from "../trust/levels.ts";
import { listTrustPage, type TrustPair } from "../trust/store.ts";
import { KeptRoutes } from "./kept-routes.ts";

type TrustEdge = Pick<TrustRecordRow, "agent_id" | "remote_agent_id" | "trust_level">;

/** The routes from an asking agent, as a ranking reads them. */
interface AskerRoutes {
  readonly graph: Graph;
  readonly from: string;
  readonly routes: Routes;
}

/** The graph of trust between agents, held in memory and updated with every settled task. */
export interface TrustGraph {
  readonly graph: Graph;
  /** Returns the agents that an agent blocked: it ignores their trust in others as well. */
  blockedBy(agentId: string | null): ReadonlySet<string>;
  /** Returns the routes from an agent, or from this relay, for a ranking; they pass no agent that it blocked. */
  routesFrom(agentId: string | null): AskerRoutes;
  /** Whether a payer's block excludes an executor; a task without a payer excludes none. */
  isBlocked(payerId: string | null, executorId: string): boolean;
  update(record: TrustEdge): void;
  /** Removes a delegator's trust in an executor; a block stays. */
  remove(pair: TrustPair): void;
  /** Freezes the graph, but not the blocks, until the returned function is called. */
  hold(): () => void;
}

const PAGE_SIZE = 10_000;
/** The id from which tasks without a payer are routed. */
const SELF = "self";
const noAgents: ReadonlySet<string> = new Set();

export async function loadTrustGraph(read: Reader): Promise<TrustGraph> {
  const trustGraph = createTrustGraph();
  let after = { agent_id: "", remote_agent_id: "" };
  for (;;) {
    const records = await listTrustPage(read, after, PAGE_SIZE);
    for (const record of records) trustGraph.update(record);
    const last = records.at(-1);
    if (last === undefined || records.length < PAGE_SIZE) return trustGraph;
    after = last;
  }
}

/** An edge holds a delegator's trust in an executor; price and latency belong to the candidate. */
function createTrustGraph(): TrustGraph {
  const graph = new Graph();
  const blocked = new Map<string, Set<string>>();
  const keptRoutes = new KeptRoutes();
  /** The edges that changed while the graph is held; undefined while it is not. */
  let waiting: Edge[] | undefined;

  function setTrust(from: string, to: string, trust: number): void {
    const edge = { from, to, trust, cost: 0, latency: 0, reliability: 1 };
    if (waiting === undefined) addEdge(edge);
    else waiting.push(edge);
  }

  function addEdge(edge: Edge): void {
    if (graph.getAttributes(edge.from, edge.to)?.trust === edge.trust) return;
    keptRoutes.clear();
    const added = graph.addEdge(edge.from, edge.to, edge);
    if (!added.ok) throw new Error(`trust edge refused: ${added.code}`);
  }

  const blockedBy = (agentId: string | null) => blocked.get(agentId ?? "") ?? noAgents;
  return {
    graph,
    blockedBy,
    routesFrom(agentId) {
      const from = agentId ?? SELF;
      const create = () => new Routes(graph, from, blockedBy(agentId));
      return { graph, from, routes: keptRoutes.get(from, graph.ids.length, create) };
    },
    isBlocked: (payerId, executorId) => blockedBy(payerId).has(executorId),
    update({ agent_id, remote_agent_id, trust_level }) {
      // A task that was counted before the block may be published after it.
      if (blockedBy(agent_id).has(remote_agent_id)) return;
      if (trust_level === BLOCKED) {
        const all = blocked.get(agent_id) ?? new Set();
        blocked.set(agent_id, all.add(remote_agent_id));
        keptRoutes.clear();
      }
      setTrust(agent_id, remote_agent_id, scoreOfLevel(trust_level));
    },
    remove({ agent_id, remote_agent_id }) {
      // Routes never use an edge of trust 0.
      if (!blockedBy(agent_id).has(remote_agent_id)) setTrust(agent_id, remote_agent_id, 0);
    },
    hold() {
      waiting = [];
      return () => {
        const edges = waiting ?? [];
        waiting = undefined;
        for (const edge of edges) addEdge(edge);
      };
    },
  };
}
