import { NONE } from "./edge-index.ts";
import { NumberHeap } from "./number-heap.ts";

/** The trust of a settled node, which no other route exceeds. */
export const SETTLED = Infinity;

const single = new Float32Array(1);
const bits = new Uint32Array(single.buffer);
const BITS_OF_ONE = 0x3f800000;
const HOP_SPAN = 2 ** 22;
// Each halving of trust has 512 buckets.
const BUCKET_SHIFT = 14;

/**
 * The open nodes of a search, highest trust first, then fewest hops. Only the first nodes are sorted, in
 * a small heap that stays in the CPU cache; the others are in buckets of similar trust.
 */
export class RouteQueue {
  readonly #trusts: Float32Array;
  readonly #top = new NumberHeap();
  readonly #heads = new Int32Array((BITS_OF_ONE >> BUCKET_SHIFT) + 1).fill(NONE);
  #keys: Float64Array;
  #nodes: Int32Array;
  #next: Int32Array;
  #length = 0;
  #waiting = 0;
  #bucket = 0;

  /** `trusts` is the single-precision trust of each node's best known route, SETTLED if final. */
  constructor(trusts: Float32Array) {
    this.#trusts = trusts;
    this.#keys = new Float64Array(trusts.length);
    this.#nodes = new Int32Array(trusts.length);
    this.#next = new Int32Array(trusts.length);
  }

  /** Adds a node; called again for each better route to it. */
  push(node: number, hops: number): void {
    // The bits of positive floats have the order of the floats, so this is 0 for a trust of 1.
    single[0] = this.#trusts[node]!;
    const distrust = BITS_OF_ONE - bits[0]!;
    const key = distrust * HOP_SPAN + hops;
    const bucket = distrust >> BUCKET_SHIFT;
    if (bucket === this.#bucket) this.#top.push(key, node);
    else this.#wait(bucket, key, node);
  }

  /** Removes and returns the first node that is not settled, or NONE. */
  pop(): number {
    for (;;) {
      if (this.#top.size === 0 && !this.#refill()) return NONE;
      const node = this.#top.pop();
      if (this.#trusts[node] !== SETTLED) return node;
    }
  }

  #wait(bucket: number, key: number, node: number): void {
    if (this.#length === this.#nodes.length) this.#grow();
    const place = this.#length++;
    this.#keys[place] = key;
    this.#nodes[place] = node;
    this.#next[place] = this.#heads[bucket]!;
    this.#heads[bucket] = place;
    this.#waiting += 1;
  }

  #refill(): boolean {
    while (this.#top.size === 0 && this.#waiting > 0) {
      this.#bucket += 1;
      for (let place = this.#heads[this.#bucket]!; place !== NONE; place = this.#next[place]!) {
        this.#waiting -= 1;
        const node = this.#nodes[place]!;
        if (this.#trusts[node] !== SETTLED) this.#top.push(this.#keys[place]!, node);
      }
    }
    return this.#top.size > 0;
  }

  #grow(): void {
    const keys = new Float64Array(2 * this.#length);
    const nodes = new Int32Array(2 * this.#length);
    const next = new Int32Array(2 * this.#length);
    keys.set(this.#keys);
    nodes.set(this.#nodes);
    next.set(this.#next);
    this.#keys = keys;
    this.#nodes = nodes;
    this.#next = next;
  }
}
