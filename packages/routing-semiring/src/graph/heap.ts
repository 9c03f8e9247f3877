/** A binary heap of items with an order. */
export class Heap<T> {
  readonly #before: (a: T, b: T) => boolean;
  readonly #items: T[] = [];

  constructor(before: (a: T, b: T) => boolean) {
    this.#before = before;
  }

  push(item: T): void {
    const items = this.#items;
    let place = items.length;
    while (place > 0) {
      const parent = (place - 1) >> 1;
      const above = items[parent]!;
      if (!this.#before(item, above)) break;
      items[place] = above;
      place = parent;
    }
    items[place] = item;
  }

  /** Removes and returns a first item; undefined if the heap is empty. */
  pop(): T | undefined {
    const items = this.#items;
    const first = items[0];
    const last = items.pop();
    const size = items.length;
    if (last === undefined || size === 0) return first;
    let place = 0;
    for (let child = 1; child < size; child = 2 * place + 1) {
      if (child + 1 < size && this.#before(items[child + 1]!, items[child]!)) child += 1;
      const below = items[child]!;
      if (!this.#before(below, last)) break;
      items[place] = below;
      place = child;
    }
    items[place] = last;
    return first;
  }
}
