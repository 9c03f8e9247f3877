import type { EdgeColumns } from "./edge-columns.ts";
import { NONE } from "./edge-index.ts";
import type { Graph } from "./graph.ts";
import { Heap } from "./heap.ts";
import { buildPath, isBefore } from "./predecessors.ts";
import { compareNumbers, toSumKey, type Semiring } from "../semiring.ts";

/** A route and the value of this route alone under the semiring. */
export interface BestPath<T> {
  readonly path: string[];
  readonly value: T;
}

interface Label<T> {
  readonly node: number;
  readonly value: T;
  readonly hops: number;
  readonly cost: number;
}

/**
 * Finds the best route `from -> to` under a semiring; null if there is none or its value is zero.
 *
 * Ties: fewer hops, then lower cost, then smaller ids compared from the start.
 */
export function findBestPath<T>(
  graph: Graph,
  semiring: Semiring<T>,
  from: string,
  to: string,
): BestPath<T> | null {
  const source = graph.findNode(from);
  const goal = graph.findNode(to);
  if (source === NONE || goal === NONE) return null;

  const adjacency = graph.getAdjacency();
  const compare = compareLabels(semiring);
  const start: Label<T> = { node: source, value: semiring.one, hops: 0, cost: 0 };
  const labels = new Map([[source, start]]);
  const previous = new Int32Array(graph.ids.length).fill(NONE);
  const settled = new Uint8Array(graph.ids.length);
  const open = new Heap<Label<T>>((a, b) => compare(a, b) < 0);
  open.push(start);
  // An extension never improves a route, so the best open label is final (Dijkstra).
  for (let label = open.pop(); label !== undefined && label.node !== goal; label = open.pop()) {
    if (settled[label.node] === 1) continue;
    settled[label.node] = 1;
    for (const edge of adjacency.edgesOf(label.node)) {
      if (settled[adjacency.edges.to[edge]!] === 1) continue;
      const extended = extendLabel(semiring, label, adjacency.edges, edge);
      if (semiring.equal(extended.value, semiring.zero)) continue;
      const current = labels.get(extended.node);
      const order = current === undefined ? -1 : compare(extended, current);
      if (order > 0) continue;
      if (order === 0 && !isBefore(graph.ids, previous, label.node, previous[extended.node]!))
        continue;
      labels.set(extended.node, extended);
      previous[extended.node] = label.node;
      open.push(extended);
    }
  }
  const label = labels.get(goal);
  return label === undefined
    ? null
    : { path: buildPath(graph.ids, previous, goal), value: label.value };
}

function extendLabel<T>(
  { fromEdge, times }: Semiring<T>,
  label: Label<T>,
  edges: EdgeColumns,
  edge: number,
): Label<T> {
  const attributes = edges.read(edge);
  return {
    node: edges.to[edge]!,
    value: times(label.value, fromEdge(attributes)),
    hops: label.hops + 1,
    cost: label.cost + attributes.cost,
  };
}

function compareLabels<T>({ equal, plus }: Semiring<T>) {
  return (a: Label<T>, b: Label<T>): number => {
    if (!equal(a.value, b.value)) return equal(plus(a.value, b.value), a.value) ? -1 : 1;
    if (a.hops !== b.hops) return a.hops - b.hops;
    return compareNumbers(toSumKey(a.cost), toSumKey(b.cost));
  };
}
