import { Graph as LayoutGraph, layout } from "@dagrejs/dagre";
import { useMemo } from "preact/hooks";
import type { Edge, RankedCandidate } from "@agent/routing-semiring";
import { showMoney } from "../../shared/format/show-amount.ts";
import { showLine } from "../../shared/format/show-text.ts";

const NODE = { width: 104, height: 34 };
const MAX_DRAWN = 8;

interface DrawnEdge {
  readonly from: string;
  readonly to: string;
  /** From 0 to 1. */
  readonly trust: number;
  readonly label: string;
}

interface Place {
  readonly id: string;
  readonly x: number;
  readonly y: number;
}

interface DrawnGraph {
  readonly nodes: readonly Place[];
  readonly edges: readonly (DrawnEdge & { readonly points: readonly Omit<Place, "id">[] })[];
  readonly width: number;
  readonly height: number;
}

/** The paths from the submitter to the best candidates; the chosen one is dark, the others are grey. */
export function RouteGraph({
  ranked,
  graph,
  from,
  chosen,
}: {
  ranked: readonly RankedCandidate[];
  graph: readonly Edge[];
  from: string;
  chosen: string | undefined;
}) {
  const drawn = useMemo(() => placeNodes(listEdges(ranked, graph, from)), [ranked, graph, from]);
  if (drawn.nodes.length === 0) return null;
  const chosenPath = new Set(ranked.find(({ agent_id }) => agent_id === chosen)?.path ?? []);
  chosenPath.add(from).add(chosen ?? from);
  const isChosen = (...ids: string[]) => ids.every((id) => chosenPath.has(id));
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Graph of the routes">
      <svg
        class="route-graph"
        viewBox={`-4 -4 ${drawn.width + 8} ${drawn.height + 8}`}
        width={drawn.width + 8}
        height={drawn.height + 8}
        role="img"
        aria-label={`Routes from the submitter to ${ranked.length} candidates, of which ${showLine(chosen ?? "none", 60)} was chosen`}
      >
        {drawn.edges.map(({ from: source, to, trust, label, points }) => (
          <g key={`${source} ${to}`} class={isChosen(source, to) ? "edge chosen" : "edge"}>
            <path d={toPath(points)} stroke-width={1 + trust * 4} />
            <text x={middleOf(points).x} y={middleOf(points).y - 4}>
              {label}
            </text>
          </g>
        ))}
        {drawn.nodes.map(({ id, x, y }) => (
          <g key={id} class={isChosen(id) ? "node chosen" : "node"}>
            <rect
              x={x - NODE.width / 2}
              y={y - NODE.height / 2}
              width={NODE.width}
              height={NODE.height}
              rx={6}
            />
            <text x={x} y={y + 4}>
              {id === from || id === "self" ? "submitter" : `…${showLine(id.slice(-8), 8)}`}
            </text>
          </g>
        ))}
      </svg>
    </div>
  );
}

/** Lists the hops to the best candidates: those of the graph, or a direct hop if the graph has no path. */
function listEdges(
  ranked: readonly RankedCandidate[],
  graph: readonly Edge[],
  from: string,
): readonly DrawnEdge[] {
  const edges = new Map<string, DrawnEdge>();
  for (const { path, agent_id, cost, sub_scores } of ranked.slice(0, MAX_DRAWN)) {
    const ids = [from, ...(path.length > 1 ? path.slice(1) : [agent_id])];
    for (const [at, to] of ids.entries()) {
      const source = ids[at - 1];
      if (source === undefined || source === to) continue;
      const known = graph.find((edge) => edge.from === source && edge.to === to);
      const isLast = at === ids.length - 1;
      const label = isLast && cost !== null ? showMoney(cost) : "";
      const trust = known?.trust ?? sub_scores.trust;
      edges.set(`${source} ${to}`, { from: source, to, trust, label });
    }
  }
  return [...edges.values()];
}

/** Computes the coordinates, from left to right. */
function placeNodes(edges: readonly DrawnEdge[]): DrawnGraph {
  if (edges.length === 0) return { nodes: [], edges: [], width: 0, height: 0 };
  const graph = new LayoutGraph();
  graph.setGraph({ rankdir: "LR", nodesep: 14, ranksep: 110 });
  graph.setDefaultEdgeLabel(() => ({}));
  const ids = [...new Set(edges.flatMap(({ from, to }) => [from, to]))];
  for (const id of ids) graph.setNode(id, { ...NODE });
  for (const { from, to } of edges) graph.setEdge(from, to);
  layout(graph);
  const { width = 0, height = 0 } = graph.graph() as { width?: number; height?: number };
  return {
    nodes: ids.map((id) => {
      const { x, y } = graph.node(id) as Omit<Place, "id">;
      return { id, x, y };
    }),
    edges: edges.map((edge) => {
      const { points } = graph.edge(edge.from, edge.to) as { points: Omit<Place, "id">[] };
      return { ...edge, points };
    }),
    width,
    height,
  };
}

const toPath = (points: readonly Omit<Place, "id">[]) =>
  points.map(({ x, y }, at) => `${at === 0 ? "M" : "L"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");

const middleOf = (points: readonly Omit<Place, "id">[]) =>
  points[Math.floor(points.length / 2)] ?? { x: 0, y: 0 };
