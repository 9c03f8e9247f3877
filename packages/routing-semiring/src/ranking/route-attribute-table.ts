import type { EdgeColumns } from "../graph/edge-columns.ts";
import { toShareKey, toSumKey, type RouteAttributes } from "../semiring.ts";

const STRIDE = 5;

/** The attributes of one route for each node, stored adjacently; trust 0 means no route. */
export class RouteAttributeTable {
  readonly #cells: Float64Array;

  constructor(nodeCount: number) {
    this.#cells = new Float64Array(STRIDE * nodeCount);
  }

  read(node: number): RouteAttributes {
    const at = STRIDE * node;
    return {
      trust: this.#cells[at]!,
      cost: this.#cells[at + 1]!,
      latency: this.#cells[at + 2]!,
      reliability: this.#cells[at + 3]!,
      hops: this.#cells[at + 4]!,
    };
  }

  trust(node: number): number {
    return this.#cells[STRIDE * node]!;
  }

  hops(node: number): number {
    return this.#cells[STRIDE * node + 4]!;
  }

  /** Stores the empty route, the `one` of `routeSemiring`. */
  start(node: number): void {
    this.#cells[STRIDE * node] = 1;
    this.#cells[STRIDE * node + 3] = 1;
  }

  /** Stores the route to the source of an edge followed by this edge, `times` of `routeSemiring`. */
  extend(node: number, edges: EdgeColumns, edge: number): void {
    const cells = this.#cells;
    const at = STRIDE * node;
    const before = STRIDE * edges.from[edge]!;
    cells[at] = cells[before]! * edges.trust[edge]!;
    cells[at + 1] = cells[before + 1]! + edges.rest[3 * edge]!;
    cells[at + 2] = cells[before + 2]! + edges.rest[3 * edge + 1]!;
    cells[at + 3] = cells[before + 3]! * edges.rest[3 * edge + 2]!;
    cells[at + 4] = cells[before + 4]! + 1;
  }

  /** Returns the key of the cost of the route to the source of an edge followed by this edge. */
  costKeyThrough(edges: EdgeColumns, edge: number): number {
    return toSumKey(this.#cells[STRIDE * edges.from[edge]! + 1]! + edges.rest[3 * edge]!);
  }

  /** Returns the key of the latency of the same route. */
  latencyKeyThrough(edges: EdgeColumns, edge: number): number {
    return toSumKey(this.#cells[STRIDE * edges.from[edge]! + 2]! + edges.rest[3 * edge + 1]!);
  }

  /** Returns the key of the reliability of the same route. */
  reliabilityKeyThrough(edges: EdgeColumns, edge: number): number {
    return toShareKey(this.#cells[STRIDE * edges.from[edge]! + 3]! * edges.rest[3 * edge + 2]!);
  }
}
