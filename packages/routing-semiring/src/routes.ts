import type { EdgeColumns } from "./edge-columns.ts";
import { NONE } from "./edge-index.ts";
import type { Graph } from "./graph.ts";
import { pathTo, precedes } from "./predecessors.ts";
import { RouteQueue, SETTLED } from "./route-queue.ts";
import { ascending, NEGLIGIBLE, shareKey, sumKey, type RouteFigures } from "./semiring.ts";

/** A route by its ids, from the asking node on, with the figures of exactly this route. */
export interface Route extends RouteFigures {
  readonly agent_id: string;
  readonly path: string[];
}

/**
 * The best route from one id to every other, for all targets in one pass over the edges: those
 * that `bestPath` finds with `product`.
 */
export const routesFrom = (graph: Graph, from: string): Routes => new Routes(graph, from);

export class Routes {
  readonly #graph: Graph;
  readonly #trust: Float64Array;
  readonly #cost: Float64Array;
  readonly #latency: Float64Array;
  readonly #reliability: Float64Array;
  readonly #hops: Int32Array;
  readonly #previous: Int32Array;

  constructor(graph: Graph, from: string) {
    const nodeCount = graph.ids.length;
    this.#graph = graph;
    this.#trust = new Float64Array(nodeCount);
    this.#cost = new Float64Array(nodeCount);
    this.#latency = new Float64Array(nodeCount);
    this.#reliability = new Float64Array(nodeCount);
    this.#hops = new Int32Array(nodeCount);
    this.#previous = new Int32Array(nodeCount).fill(NONE);
    const source = graph.nodeOf(from);
    if (source !== NONE) this.#search(source);
  }

  /** The figures of the best route to an id, or null when there is none. */
  figures(id: string): RouteFigures | null {
    const node = this.#graph.nodeOf(id);
    return node === NONE || this.#trust[node] === 0 ? null : this.#read(node);
  }

  /** The ids of that route, or null. */
  path(id: string): string[] | null {
    const node = this.#graph.nodeOf(id);
    return node === NONE || this.#trust[node] === 0
      ? null
      : pathTo(this.#graph.ids, this.#previous, node);
  }

  /** Every route of at least one hop. */
  all(): Route[] {
    const routes: Route[] = [];
    for (const [node, id] of this.#graph.ids.entries()) {
      if (this.#previous[node] === NONE) continue;
      const path = pathTo(this.#graph.ids, this.#previous, node);
      routes.push({ agent_id: id, ...this.#read(node), path });
    }
    return routes;
  }

  #read(node: number): RouteFigures {
    return {
      trust: this.#trust[node]!,
      cost: this.#cost[node]!,
      latency: this.#latency[node]!,
      reliability: this.#reliability[node]!,
      hops: this.#hops[node]!,
    };
  }

  // Dijkstra. More hops make a route worse even where trust stays, so the order only grows, and
  // all routes that could tie with a node's best are known when the node is taken out.
  #search(source: number): void {
    const adjacency = this.#graph.grouped();
    const { to, trust: edgeTrust } = adjacency.edges;
    const previous = this.#previous;
    const trusts = new Float32Array(this.#trust.length);
    const lastEdges = new Int32Array(this.#trust.length).fill(NONE);
    const queue = new RouteQueue(trusts);
    trusts[source] = 1;
    queue.push(source, 0);
    for (let node = queue.pop(); node !== NONE; node = queue.pop()) {
      trusts[node] = SETTLED;
      this.#settle(node, lastEdges[node]!, adjacency.edges);
      const trust = this.#trust[node]!;
      const hops = this.#hops[node]! + 1;
      const rowEnd = adjacency.rowEnd(node);
      for (
        let edge = adjacency.first(node);
        edge !== NONE;
        edge = edge + 1 < rowEnd ? edge + 1 : adjacency.afterRow(edge, node)
      ) {
        const target = to[edge]!;
        const offer = shareKey(trust * edgeTrust[edge]!);
        const known = trusts[target]!;
        if (offer < known || offer < NEGLIGIBLE) continue;
        if (offer === known) {
          const rival = lastEdges[target]!;
          const order = hops - this.#hops[previous[target]!]! - 1;
          if (order > 0 || (order === 0 && !this.#winsTie(edge, rival, adjacency.edges))) continue;
        }
        trusts[target] = offer;
        lastEdges[target] = edge;
        previous[target] = node;
        queue.push(target, hops);
      }
    }
  }

  #settle(node: number, edge: number, edges: EdgeColumns): void {
    if (edge === NONE) {
      this.#trust[node] = 1;
      this.#reliability[node] = 1;
      return;
    }
    const before = this.#previous[node]!;
    this.#trust[node] = this.#trust[before]! * edges.trust[edge]!;
    this.#cost[node] = this.#cost[before]! + edges.cost[edge]!;
    this.#latency[node] = this.#latency[before]! + edges.latency[edge]!;
    this.#reliability[node] = this.#reliability[before]! * edges.reliability[edge]!;
    this.#hops[node] = this.#hops[before]! + 1;
  }

  // Of two routes that end with edges `a` and `b` at one node, with trust and hops alike: does the
  // first win? As `compareFigures` goes on, then by ids.
  #winsTie(a: number, b: number, edges: EdgeColumns): boolean {
    const viaA = edges.from[a]!;
    const viaB = edges.from[b]!;
    const cost = this.#cost;
    const latency = this.#latency;
    const reliability = this.#reliability;
    const order =
      ascending(sumKey(cost[viaA]! + edges.cost[a]!), sumKey(cost[viaB]! + edges.cost[b]!)) ||
      ascending(
        sumKey(latency[viaA]! + edges.latency[a]!),
        sumKey(latency[viaB]! + edges.latency[b]!),
      ) ||
      ascending(
        shareKey(reliability[viaB]! * edges.reliability[b]!),
        shareKey(reliability[viaA]! * edges.reliability[a]!),
      );
    return order < 0 || (order === 0 && precedes(this.#graph.ids, this.#previous, viaA, viaB));
  }
}
