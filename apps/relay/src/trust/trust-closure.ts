import { findRoutes, type Routes } from "@agent/routing-semiring";
import { limits, refuse, type Answer, type Operations } from "@agent/wire";
import type { Services } from "../services.ts";

type GraphServices = Pick<Services, "trustGraph">;

/** Returns all agents that an agent has a trusted path to, most trusted first. */
export function getTrustClosure(
  { trustGraph }: GraphServices,
  agentId: string,
): Answer<Operations["getTrustClosure"]> {
  const routes = findTrustedRoutes(trustGraph, agentId);
  const closure = trustGraph.graph.ids
    .flatMap((agent_id) => {
      const node = agent_id === agentId ? undefined : findNode(routes, agent_id);
      return node === undefined ? [] : [{ agent_id, node, trust: routes.figures(node).trust }];
    })
    .toSorted((a, b) => b.trust - a.trust || (a.agent_id < b.agent_id ? -1 : 1))
    .slice(0, limits.trustClosure)
    .map(({ agent_id, node, trust }) => ({ agent_id, trust, path: routes.path(node) }));
  return { status: 200, body: { agent_id: agentId, closure } };
}

/** Returns the path of the closure to one agent. */
export function getTrustPath(
  { trustGraph }: GraphServices,
  { source, target }: { readonly source: string; readonly target: string },
): Answer<Operations["getTrustPath"]> {
  const routes = findTrustedRoutes(trustGraph, source);
  const node = source === target ? undefined : findNode(routes, target);
  if (node === undefined) return refuse("trust.no_path");
  const { trust } = routes.figures(node);
  return { status: 200, body: { source, target, trust, path: routes.path(node) } };
}

/** Excludes blocked agents, both as targets and as intermediaries, whatever others trust them. */
function findTrustedRoutes(trustGraph: GraphServices["trustGraph"], agentId: string): Routes {
  return findRoutes(trustGraph.graph, agentId, trustGraph.blockedBy(agentId));
}

function findNode(routes: Routes, agentId: string): number | undefined {
  const node = routes.find(agentId);
  return node >= 0 && routes.hops(node) <= limits.trustHops ? node : undefined;
}
