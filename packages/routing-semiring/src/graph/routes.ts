import type { EdgeColumns } from "./edge-columns.ts";
import { NONE } from "./edge-index.ts";
import { RouteAttributeTable } from "../ranking/route-attribute-table.ts";
import type { Graph } from "./graph.ts";
import { buildPath, isBefore } from "./predecessors.ts";
import { RouteQueue, SETTLED } from "./route-queue.ts";
import { NEGLIGIBLE, type RouteAttributes, toShareKey } from "../semiring.ts";

/** A route: its ids from the asking node on, and the attributes of exactly this route. */
export interface Route extends RouteAttributes {
  readonly agent_id: string;
  readonly path: string[];
}

/**
 * Finds the best routes from one id to all others in one pass over the edges: those that `findBestPath`
 * finds with `routeSemiring` in a graph without the avoided ids.
 */
export function findRoutes(graph: Graph, from: string, avoided: Iterable<string> = []): Routes {
  const routes = new Routes(graph, from, avoided);
  routes.search(Infinity);
  return routes;
}

/** The state of an unfinished search. */
interface OpenSearch {
  readonly source: number;
  readonly offers: Float32Array;
  readonly lastEdges: Int32Array;
  readonly queue: RouteQueue;
}

/** The best routes from one id; they can be read once `search` has returned true. */
export class Routes {
  readonly #graph: Graph;
  readonly #figures: RouteAttributeTable;
  readonly #previous: Int32Array;
  #open: OpenSearch | undefined;

  constructor(graph: Graph, from: string, avoided: Iterable<string> = []) {
    this.#graph = graph;
    this.#figures = new RouteAttributeTable(graph.ids.length, graph.getAdjacency().edges);
    this.#previous = new Int32Array(graph.ids.length).fill(NONE);
    const source = graph.findNode(from);
    if (source !== NONE) this.#open = this.#start(source, avoided);
  }

  /**
   * Continues the search by at most `nodes` nodes, and returns whether it is complete. The graph must not
   * change before it is.
   */
  search(nodes: number): boolean {
    if (this.#open !== undefined && this.#searchOn(this.#open, nodes)) this.#open = undefined;
    return this.#open === undefined;
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
    return this.at(this.findNode(id));
  }

  /** Returns the node number of an id, or -1. */
  findNode(id: string): number {
    return this.#graph.findNode(id);
  }

  /** Returns the node number itself if a route leads to the node, otherwise -1. */
  at(node: number): number {
    return node === NONE || node >= this.#previous.length || this.#figures.trust(node) === 0
      ? NONE
      : node;
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

  #start(source: number, avoided: Iterable<string>): OpenSearch {
    const offers = new Float32Array(this.#previous.length);
    const queue = new RouteQueue(offers);
    // No route replaces a settled one, so no route leads to these nodes.
    for (const id of avoided) offers[this.#graph.findNode(id)] = SETTLED;
    this.#figures.start(source);
    offers[source] = 1;
    queue.push(source, 0);
    return { source, offers, lastEdges: new Int32Array(offers.length), queue };
  }

  // Dijkstra: each hop makes a route worse, even with equal trust, so that all routes that can tie with
  // the best one of a node are known when the node is removed from the queue.
  #searchOn({ source, offers, lastEdges, queue }: OpenSearch, nodes: number): boolean {
    const adjacency = this.#graph.getAdjacency();
    const { edges } = adjacency;
    const { to, trust: edgeTrust } = edges;
    const figures = this.#figures;
    const previous = this.#previous;
    for (let left = nodes; left > 0; left -= 1) {
      const node = queue.pop();
      if (node === NONE) return true;
      offers[node] = SETTLED;
      if (node !== source) figures.extend(node, previous[node]!, edges, lastEdges[node]!);
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
    return false;
  }

  // Returns whether the route through edge `a` is preferred to that through edge `b` to the same node, by
  // the order of `compareRoutes`; their trust is equal.
  #winsTie(a: number, b: number, edges: EdgeColumns): boolean {
    const [nodeA, nodeB] = [edges.from[a]!, edges.from[b]!];
    const order =
      this.#figures.hops(nodeA) - this.#figures.hops(nodeB) ||
      this.#figures.compareRest(edges, a, b);
    if (order !== 0) return order < 0;
    return isBefore(this.#graph.ids, this.#previous, nodeA, nodeB);
  }
}
