import { routesFrom, type Routes } from "@agent/routing-semiring";
import { limits, refuse, type Answer, type Operations } from "@agent/wire";
import type { Services } from "../services.ts";

type Graph = Pick<Services, "trustGraph">;

/** Everybody an agent has a trusted path to, the most trusted first. */
export function trustClosure(
  { trustGraph }: Graph,
  agentId: string,
): Answer<Operations["getTrustClosure"]> {
  const routes = routesFrom(trustGraph.graph, agentId);
  const closure = trustGraph.graph.ids
    .flatMap((agent_id) => {
      const node = nodeOf(trustGraph, routes, agentId, agent_id);
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
  const routes = routesFrom(trustGraph.graph, source);
  const node = nodeOf(trustGraph, routes, source, target);
  if (node === undefined) return refuse("trust.no_path");
  const { trust } = routes.figures(node);
  return { status: 200, body: { source, target, trust, path: routes.path(node) } };
}

/** The node that a trusted path of at least one hop leads to: no others' trust outweighs a block. */
function nodeOf(
  trustGraph: Graph["trustGraph"],
  routes: Routes,
  source: string,
  target: string,
): number | undefined {
  const node = routes.find(target);
  const isTrusted =
    node >= 0 &&
    source !== target &&
    routes.hops(node) <= limits.trustHops &&
    !trustGraph.isBlocked(source, target);
  return isTrusted ? node : undefined;
}
