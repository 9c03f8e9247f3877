import { routesFrom, type Routes } from "@agent/routing-semiring";
import { limits, refuse, type Answer, type Operations } from "@agent/wire";
import type { Services } from "../services.ts";

type Graph = Pick<Services, "trustGraph">;

/** Everybody an agent has a trusted path to, the most trusted first. */
export function trustClosure(
  { trustGraph }: Graph,
  agentId: string,
): Answer<Operations["getTrustClosure"]> {
  const routes = routesOf(trustGraph, agentId);
  const closure = trustGraph.graph.ids
    .flatMap((agent_id) => {
      const node = agent_id === agentId ? undefined : nodeOf(routes, agent_id);
      return node === undefined ? [] : [{ agent_id, node, trust: routes.figures(node).trust }];
    })
    .toSorted((a, b) => b.trust - a.trust || (a.agent_id < b.agent_id ? -1 : 1))
    .slice(0, limits.trustClosure)
    .map(({ agent_id, node, trust }) => ({ agent_id, trust, path: routes.path(node) }));
  return { status: 200, body: { agent_id: agentId, closure } };
}

/** What the closure holds of one agent. */
export function trustPath(
  { trustGraph }: Graph,
  { source, target }: { readonly source: string; readonly target: string },
): Answer<Operations["getTrustPath"]> {
  const routes = routesOf(trustGraph, source);
  const node = source === target ? undefined : nodeOf(routes, target);
  if (node === undefined) return refuse("trust.no_path");
  const { trust } = routes.figures(node);
  return { status: 200, body: { source, target, trust, path: routes.path(node) } };
}

/** No others' trust outweighs a block, neither in the blocked agent nor in its word. */
function routesOf(trustGraph: Graph["trustGraph"], agentId: string): Routes {
  return routesFrom(trustGraph.graph, agentId, trustGraph.blockedBy(agentId));
}

function nodeOf(routes: Routes, agentId: string): number | undefined {
  const node = routes.find(agentId);
  return node >= 0 && routes.hops(node) <= limits.trustHops ? node : undefined;
}
