import type { EdgeColumns } from "../graph/edge-columns.ts";
import { compareNumbers, toShareKey, toSumKey, type RouteAttributes } from "../semiring.ts";

/**
 * The attributes of one route for each node; trust 0 means no route. Trust and hops have columns of their
 * own, because a search reads them of every node. The other attributes are stored only if an edge has them.
 */
export class RouteAttributeTable {
  readonly #trusts: Float64Array;
  readonly #hops: Int32Array;
  /** Cost, latency and reliability of node n, from index 3n on; undefined if each route has 0, 0 and 1. */
  readonly #rest: Float64Array | undefined;

  constructor(nodeCount: number, edges: EdgeColumns) {
    this.#trusts = new Float64Array(nodeCount);
    this.#hops = new Int32Array(nodeCount);
    if (!edges.haveTrustOnly) this.#rest = new Float64Array(3 * nodeCount);
  }

  read(node: number): RouteAttributes {
    const rest = this.#rest;
    return {
      trust: this.#trusts[node]!,
      cost: rest === undefined ? 0 : rest[3 * node]!,
      latency: rest === undefined ? 0 : rest[3 * node + 1]!,
      reliability: rest === undefined ? 1 : rest[3 * node + 2]!,
      hops: this.#hops[node]!,
    };
  }

  trust(node: number): number {
    return this.#trusts[node]!;
  }

  hops(node: number): number {
    return this.#hops[node]!;
  }

  /** Stores the empty route, the `one` of `routeSemiring`. */
  start(node: number): void {
    this.#trusts[node] = 1;
    if (this.#rest !== undefined) this.#rest[3 * node + 2] = 1;
  }

  /** Stores the route to the source of an edge followed by this edge, `times` of `routeSemiring`. */
  extend(node: number, source: number, edges: EdgeColumns, edge: number): void {
    this.#trusts[node] = this.#trusts[source]! * edges.trust[edge]!;
    this.#hops[node] = this.#hops[source]! + 1;
    const rest = this.#rest;
    if (rest === undefined) return;
    rest[3 * node] = rest[3 * source]! + edges.rest[3 * edge]!;
    rest[3 * node + 1] = rest[3 * source + 1]! + edges.rest[3 * edge + 1]!;
    rest[3 * node + 2] = rest[3 * source + 2]! * edges.rest[3 * edge + 2]!;
  }

  /**
   * Compares the routes to the sources of two edges, each followed by its edge, whose trust and hops are
   * equal: negative if the first is preferred, by the order of `compareRoutes`.
   */
  compareRest(edges: EdgeColumns, a: number, b: number): number {
    const rest = this.#rest;
    if (rest === undefined) return 0;
    const [sourceA, sourceB] = [3 * edges.from[a]!, 3 * edges.from[b]!];
    const sum = (source: number, edge: number, of: number) =>
      toSumKey(rest[source + of]! + edges.rest[3 * edge + of]!);
    const share = (source: number, edge: number) =>
      toShareKey(rest[source + 2]! * edges.rest[3 * edge + 2]!);
    return (
      compareNumbers(sum(sourceA, a, 0), sum(sourceB, b, 0)) ||
      compareNumbers(sum(sourceA, a, 1), sum(sourceB, b, 1)) ||
      compareNumbers(share(sourceB, b), share(sourceA, a))
    );
  }
}
