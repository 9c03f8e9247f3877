import type { EdgeColumns } from "./edge-columns.ts";

export const NONE = -1;

/** Finds an edge by its two nodes in a hash table of edge numbers that is at most half full. */
export class EdgeIndex {
  readonly #edges: EdgeColumns;
  #slots = new Int32Array(0);

  constructor(edges: EdgeColumns) {
    this.#edges = edges;
    this.#rebuild();
  }

  find(from: number, to: number): number {
    return this.#slots[this.#slotOf(from, to)]!;
  }

  /** Adds the edge that was pushed last. */
  addLast(): void {
    if (2 * this.#edges.length > this.#slots.length) this.#rebuild();
    else this.#put(this.#edges.length - 1);
  }

  #rebuild(): void {
    this.#slots = new Int32Array(4 * 2 ** Math.ceil(Math.log2(this.#edges.length + 8))).fill(NONE);
    for (let edge = 0; edge < this.#edges.length; edge += 1) this.#put(edge);
  }

  #put(edge: number): void {
    this.#slots[this.#slotOf(this.#edges.from[edge]!, this.#edges.to[edge]!)] = edge;
  }

  /** Returns the slot of the edge, or the free slot for it. */
  #slotOf(from: number, to: number): number {
    const { from: sources, to: targets } = this.#edges;
    const mask = this.#slots.length - 1;
    const mixed = Math.imul(from, 0x9e3779b1) ^ Math.imul(to, 0x85ebca6b);
    let slot = (mixed ^ (mixed >>> 15)) & mask;
    for (;;) {
      const edge = this.#slots[slot]!;
      if (edge === NONE || (sources[edge] === from && targets[edge] === to)) return slot;
      slot = (slot + 1) & mask;
    }
  }
}
