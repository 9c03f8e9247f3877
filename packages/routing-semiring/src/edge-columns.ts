import type { EdgeFigures } from "./semiring.ts";

/** Edges between numbered nodes, one array per figure. */
export class EdgeColumns {
  length = 0;
  from: Int32Array;
  to: Int32Array;
  trust: Float64Array;
  cost: Float64Array;
  latency: Float64Array;
  reliability: Float64Array;

  constructor(capacity: number) {
    this.from = new Int32Array(capacity);
    this.to = new Int32Array(capacity);
    this.trust = new Float64Array(capacity);
    this.cost = new Float64Array(capacity);
    this.latency = new Float64Array(capacity);
    this.reliability = new Float64Array(capacity);
  }

  get capacity(): number {
    return this.from.length;
  }

  read(edge: number): EdgeFigures {
    return {
      trust: this.trust[edge]!,
      cost: this.cost[edge]!,
      latency: this.latency[edge]!,
      reliability: this.reliability[edge]!,
    };
  }

  write(edge: number, figures: EdgeFigures): void {
    this.trust[edge] = figures.trust;
    this.cost[edge] = figures.cost;
    this.latency[edge] = figures.latency;
    this.reliability[edge] = figures.reliability;
  }

  push(from: number, to: number, figures: EdgeFigures): number {
    if (this.length === this.capacity) this.#resize(2 * this.capacity);
    const edge = this.length++;
    this.from[edge] = from;
    this.to[edge] = to;
    this.write(edge, figures);
    return edge;
  }

  /** The same edges in order of their sources; those of node n begin at place n of `starts`. */
  sortedBySource(nodeCount: number): { edges: EdgeColumns; starts: Int32Array<ArrayBuffer> } {
    const starts = new Int32Array(nodeCount + 1);
    for (let edge = 0; edge < this.length; edge += 1) starts[this.from[edge]! + 1]! += 1;
    for (let node = 0; node < nodeCount; node += 1) starts[node + 1]! += starts[node]!;
    const free = starts.slice();
    const edges = new EdgeColumns(this.capacity);
    edges.length = this.length;
    for (let edge = 0; edge < this.length; edge += 1) {
      const place = free[this.from[edge]!]!++;
      edges.from[place] = this.from[edge]!;
      edges.to[place] = this.to[edge]!;
      edges.trust[place] = this.trust[edge]!;
      edges.cost[place] = this.cost[edge]!;
      edges.latency[place] = this.latency[edge]!;
      edges.reliability[place] = this.reliability[edge]!;
    }
    return { edges, starts };
  }

  #resize(capacity: number): void {
    this.from = resized(this.from, new Int32Array(capacity));
    this.to = resized(this.to, new Int32Array(capacity));
    this.trust = resized(this.trust, new Float64Array(capacity));
    this.cost = resized(this.cost, new Float64Array(capacity));
    this.latency = resized(this.latency, new Float64Array(capacity));
    this.reliability = resized(this.reliability, new Float64Array(capacity));
  }
}

const resized = <A extends Int32Array | Float64Array>(old: A, bigger: A): A => {
  bigger.set(old);
  return bigger;
};
