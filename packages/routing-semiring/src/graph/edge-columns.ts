import type { EdgeAttributes } from "../semiring.ts";

/**
 * Edges between numbered nodes, stored as columns. An attribute that a search reads from every edge has its
 * own column; those read only from chosen edges are adjacent.
 */
export class EdgeColumns {
  length = 0;
  /** Whether no stored edge has ever had a cost, a latency or a reliability below 1. */
  haveTrustOnly = true;
  from: Int32Array;
  to: Int32Array;
  trust: Float64Array;
  /** Cost, latency and reliability of edge n, from index 3n on. */
  rest: Float64Array;

  constructor(capacity: number) {
    this.from = new Int32Array(capacity);
    this.to = new Int32Array(capacity);
    this.trust = new Float64Array(capacity);
    this.rest = new Float64Array(3 * capacity);
  }

  read(edge: number): EdgeAttributes {
    return {
      trust: this.trust[edge]!,
      cost: this.rest[3 * edge]!,
      latency: this.rest[3 * edge + 1]!,
      reliability: this.rest[3 * edge + 2]!,
    };
  }

  write(edge: number, { trust, cost, latency, reliability }: EdgeAttributes): void {
    this.trust[edge] = trust;
    if (cost !== 0 || latency !== 0 || reliability !== 1) this.haveTrustOnly = false;
    this.rest[3 * edge] = cost;
    this.rest[3 * edge + 1] = latency;
    this.rest[3 * edge + 2] = reliability;
  }

  push(from: number, to: number, figures: EdgeAttributes): number {
    if (this.length === this.from.length) this.#grow();
    const edge = this.length++;
    this.#put(edge, from, to, figures);
    return edge;
  }

  /** Returns the edges sorted by source; `starts[n]` is the first edge of node n. */
  sortedBySource(nodeCount: number): { edges: EdgeColumns; starts: Int32Array<ArrayBuffer> } {
    const starts = new Int32Array(nodeCount + 1);
    for (let edge = 0; edge < this.length; edge += 1) starts[this.from[edge]! + 1]! += 1;
    for (let node = 0; node < nodeCount; node += 1) starts[node + 1]! += starts[node]!;
    const free = starts.slice();
    const edges = new EdgeColumns(this.from.length);
    edges.length = this.length;
    for (let edge = 0; edge < this.length; edge += 1) {
      const from = this.from[edge]!;
      edges.#put(free[from]!++, from, this.to[edge]!, this.read(edge));
    }
    return { edges, starts };
  }

  #put(edge: number, from: number, to: number, figures: EdgeAttributes): void {
    this.from[edge] = from;
    this.to[edge] = to;
    this.write(edge, figures);
  }

  #grow(): void {
    this.from = copyInto(this.from, new Int32Array(2 * this.from.length));
    this.to = copyInto(this.to, new Int32Array(2 * this.to.length));
    this.trust = copyInto(this.trust, new Float64Array(2 * this.trust.length));
    this.rest = copyInto(this.rest, new Float64Array(2 * this.rest.length));
  }
}

function copyInto<A extends Int32Array | Float64Array>(old: A, bigger: A): A {
  bigger.set(old);
  return bigger;
}
