import type { EdgeColumns } from "./edge-columns.ts";
import { NONE } from "./edge-index.ts";
import { RouteAttributeTable } from "../ranking/route-attribute-table.ts";
import type { Graph } from "./graph.ts";
import { buildPath, isBefore } from "./predecessors.ts";
import { RouteQueue, SETTLED } from "./route-queue.ts";
import {
  compareRoutes,
  NEGLIGIBLE,
  routeSemiring,
  type RouteAttributes,
  toShareKey,
} from "../semiring.ts";

/** A route by its ids, starting at the asking node, with the attributes of exactly this route. */
export interface Route extends RouteAttributes {
  readonly agent_id: string;
  readonly path: string[];
}

/**
 * Finds the best routes from one id to all others in one pass over the edges: those that `findBestPath`
 * finds with `routeSemiring` in a graph without the avoided ids.
 */
export function findRoutes(graph: Graph, from: string, avoided: Iterable<string> = []): Routes {
  return new Routes(graph, from, avoided);
}

export class Routes {
  readonly #graph: Graph;
  readonly #figures: RouteAttributeTable;
  readonly #previous: Int32Array;

  constructor(graph: Graph, from: string, avoided: Iterable<string> = []) {
    this.#graph = graph;
    this.#figures = new RouteAttributeTable(graph.ids.length);
    this.#previous = new Int32Array(graph.ids.length).fill(NONE);
    const source = graph.findNode(from);
    if (source !== NONE) this.#search(source, avoided);
  }

  /** Returns the best route to an id; null if there is none. */
  get(id: string): Route | null {
    const node = this.find(id);
    return node === NONE ? null : this.#route(node);
  }

  /** Lists all routes of at least one hop. */
  list(): Route[] {
    const routes: Route[] = [];
    for (const [node, before] of this.#previous.entries()) {
      if (before !== NONE) routes.push(this.#route(node));
    }
    return routes;
  }

  /** Returns the node number of an id with a route, or -1. */
  find(id: string): number {
    const node = this.#graph.findNode(id);
    return node === NONE || this.#figures.trust(node) === 0 ? NONE : node;
  }

  figures(node: number): RouteAttributes {
    return this.#figures.read(node);
  }

  hops(node: number): number {
    return this.#figures.hops(node);
  }

  path(node: number): string[] {
    return buildPath(this.#graph.ids, this.#previous, node);
  }

  #route(node: number): Route {
    return { agent_id: this.#graph.ids[node]!, ...this.figures(node), path: this.path(node) };
  }

  // Dijkstra: each hop makes a route worse, even with equal trust, so that all routes that can tie with
  // the best one of a node are known when the node is removed from the queue.
  #search(source: number, avoided: Iterable<string>): void {
    const adjacency = this.#graph.getAdjacency();
    const { edges } = adjacency;
    const { to, trust: edgeTrust } = edges;
    const figures = this.#figures;
    const previous = this.#previous;
    const offers = new Float32Array(previous.length);
    const lastEdges = new Int32Array(previous.length);
    const queue = new RouteQueue(offers);
    // No route replaces a settled one, so no route leads to these nodes.
    for (const id of avoided) offers[this.#graph.findNode(id)] = SETTLED;
    figures.start(source);
    offers[source] = 1;
    queue.push(source, 0);
    for (let node = queue.pop(); node !== NONE; node = queue.pop()) {
      offers[node] = SETTLED;
      if (node !== source) figures.extend(node, edges, lastEdges[node]!);
      const trust = figures.trust(node);
      const hops = figures.hops(node) + 1;
      const rowEnd = adjacency.rowEnd(node);
      for (
        let edge = adjacency.first(node);
        edge !== NONE;
        edge = edge + 1 < rowEnd ? edge + 1 : adjacency.afterRow(edge, node)
      ) {
        const target = to[edge]!;
        const offer = toShareKey(trust * edgeTrust[edge]!);
        const known = offers[target]!;
        if (offer < known || offer < NEGLIGIBLE) continue;
        if (offer === known && !this.#winsTie(edge, lastEdges[target]!, edges)) continue;
        offers[target] = offer;
        lastEdges[target] = edge;
        previous[target] = node;
        queue.push(target, hops);
      }
    }
  }

  // Returns whether the route through edge `a` is preferred to that through edge `b` to the same node.
  #winsTie(a: number, b: number, edges: EdgeColumns): boolean {
    const order = compareRoutes(this.#routeThrough(a, edges), this.#routeThrough(b, edges));
    if (order !== 0) return order < 0;
    return isBefore(this.#graph.ids, this.#previous, edges.from[a]!, edges.from[b]!);
  }

  #routeThrough(edge: number, edges: EdgeColumns): RouteAttributes {
    return routeSemiring.times(
      this.figures(edges.from[edge]!),
      routeSemiring.fromEdge(edges.read(edge)),
    );
  }
}
