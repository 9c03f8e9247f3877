import { EdgeColumns } from "./edge-columns.ts";
import { EdgeIndex, NONE } from "./edge-index.ts";
import type { EdgeAttributes } from "../semiring.ts";

/**
 * The edges of each node: a row of consecutive edge numbers, then a linked chain of the edges added since
 * the edges were last grouped. Rows make searches fast, and chains make adding an edge cheap.
 */
export class Adjacency {
  #edges = new EdgeColumns(16);
  #index = new EdgeIndex(this.#edges);
  #starts = new Int32Array(1);
  #grouped = 0;
  #chains: number[] = [];
  #next: number[] = [];

  get edges(): EdgeColumns {
    return this.#edges;
  }

  get nodeCount(): number {
    return this.#chains.length;
  }

  addNode(): void {
    this.#chains.push(NONE);
  }

  /** Adds the edge or replaces its attributes. */
  set(from: number, to: number, figures: EdgeAttributes): void {
    const known = this.#index.find(from, to);
    if (known !== NONE) return this.#edges.write(known, figures);
    const edge = this.#edges.push(from, to, figures);
    this.#index.addLast();
    this.#next.push(this.#chains[from]!);
    this.#chains[from] = edge;
  }

  read(from: number, to: number): EdgeAttributes | undefined {
    const edge = this.#index.find(from, to);
    return edge === NONE ? undefined : this.#edges.read(edge);
  }

  /** Groups all edges into rows if enough were added to make this worthwhile; edge numbers change. */
  group(): void {
    if (this.#next.length <= 64 + this.#grouped / 4) return;
    const { edges, starts } = this.#edges.sortedBySource(this.nodeCount);
    this.#edges = edges;
    this.#index = new EdgeIndex(edges);
    this.#starts = starts;
    this.#grouped = edges.length;
    this.#chains.fill(NONE);
    this.#next = [];
  }

  /** Yields the edges of a node. */
  *edgesOf(node: number): Generator<number> {
    const rowEnd = this.rowEnd(node);
    let edge = this.first(node);
    while (edge !== NONE) {
      yield edge;
      edge = edge + 1 < rowEnd ? edge + 1 : this.afterRow(edge, node);
    }
  }

  /**
   * Returns the end of a node's row. Within the row the next edge has the next number; after it see
   * `afterRow`.
   */
  rowEnd(node: number): number {
    return this.#starts[node + 1] ?? 0;
  }

  /** Returns the first edge of a node, or NONE. */
  first(node: number): number {
    const start = this.#starts[node] ?? 0;
    return start < this.rowEnd(node) ? start : this.#chains[node]!;
  }

  /** Returns the edge after the last one of a row or after one of a chain, or NONE. */
  afterRow(edge: number, node: number): number {
    return edge < this.#grouped ? this.#chains[node]! : this.#next[edge - this.#grouped]!;
  }
}
