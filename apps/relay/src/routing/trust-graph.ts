import { Graph } from "@agent/routing-semiring";
import type { Reader } from "../storage/storage.ts";
import type { TrustRecordRow } from "../storage/tables/trust.ts";
import { BLOCKED, scoreOfLevel } from "../trust/levels.ts";
import { listTrustPage, type TrustPair } from "../trust/store.ts";

type TrustEdge = Pick<TrustRecordRow, "agent_id" | "remote_agent_id" | "trust_level">;

/** The graph of trust between agents, held in memory and updated with every settled task. */
export interface TrustGraph {
  readonly graph: Graph;
  /** Returns the agents that an agent blocked: it ignores their trust in others as well. */
  blockedBy(agentId: string | null): ReadonlySet<string>;
  /** Whether a payer's block excludes an executor; a task without a payer excludes none. */
  isBlocked(payerId: string | null, executorId: string): boolean;
  update(record: TrustEdge): void;
  /** Removes a delegator's trust in an executor; a block stays. */
  remove(pair: TrustPair): void;
}

const PAGE_SIZE = 10_000;
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
  const blockedBy = (agentId: string | null) => blocked.get(agentId ?? "") ?? noAgents;
  return {
    graph,
    blockedBy,
    isBlocked: (payerId, executorId) => blockedBy(payerId).has(executorId),
    update({ agent_id, remote_agent_id, trust_level }) {
      // A task that was counted before the block may be published after it.
      if (blockedBy(agent_id).has(remote_agent_id)) return;
      if (trust_level === BLOCKED) {
        const all = blocked.get(agent_id) ?? new Set();
        blocked.set(agent_id, all.add(remote_agent_id));
      }
      const figures = { trust: scoreOfLevel(trust_level), cost: 0, latency: 0, reliability: 1 };
      const added = graph.addEdge(agent_id, remote_agent_id, figures);
      if (!added.ok) throw new Error(`trust edge refused: ${added.code}`);
    },
    remove({ agent_id, remote_agent_id }) {
      // Routes never use an edge of trust 0.
      const figures = { trust: 0, cost: 0, latency: 0, reliability: 1 };
      if (!blockedBy(agent_id).has(remote_agent_id)) {
        graph.addEdge(agent_id, remote_agent_id, figures);
      }
    },
  };
}
