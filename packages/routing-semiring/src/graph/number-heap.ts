/** A binary heap of node numbers with numeric keys; a node may occur several times with different keys. */
export class NumberHeap {
  #keys = new Float64Array(64);
  #nodes = new Int32Array(64);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  push(key: number, node: number): void {
    if (this.#size === this.#nodes.length) this.#grow();
    const keys = this.#keys;
    const nodes = this.#nodes;
    let place = this.#size++;
    while (place > 0) {
      const parent = (place - 1) >> 1;
      const above = keys[parent]!;
      if (above <= key) break;
      keys[place] = above;
      nodes[place] = nodes[parent]!;
      place = parent;
    }
    keys[place] = key;
    nodes[place] = node;
  }

  /** Removes and returns the node with the smallest key; the heap must not be empty. */
  pop(): number {
    const keys = this.#keys;
    const nodes = this.#nodes;
    const first = nodes[0]!;
    const size = --this.#size;
    const key = keys[size]!;
    const node = nodes[size]!;
    let place = 0;
    for (let child = 1; child < size; child = 2 * place + 1) {
      if (child + 1 < size && keys[child + 1]! < keys[child]!) child += 1;
      const below = keys[child]!;
      if (below >= key) break;
      keys[place] = below;
      nodes[place] = nodes[child]!;
      place = child;
    }
    keys[place] = key;
    nodes[place] = node;
    return first;
  }

  #grow(): void {
    const keys = new Float64Array(2 * this.#size);
    const nodes = new Int32Array(2 * this.#size);
    keys.set(this.#keys);
    nodes.set(this.#nodes);
    this.#keys = keys;
    this.#nodes = nodes;
  }
}
