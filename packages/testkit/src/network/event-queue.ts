interface Event {
  readonly at: number;
  /** Events for the same time run in the order in which they were set. */
  readonly order: number;
  readonly run: () => void;
}

/** Virtual time: scheduled events run in order, without delay between them. */
export class EventQueue {
  #now = 0;
  #order = 0;
  /** A binary heap: no event is earlier than its parent. */
  readonly #heap: Event[] = [];

  get now(): number {
    return this.#now;
  }

  after(ms: number, run: () => void): void {
    this.#push({ at: this.#now + Math.max(0, ms), order: this.#order++, run });
  }

  /** Runs all events up to the time `end`, including those that are set meanwhile. */
  runUntil(end: number): void {
    for (let next = this.#heap[0]; next !== undefined && next.at <= end; next = this.#heap[0]) {
      this.#pop();
      this.#now = next.at;
      next.run();
    }
    this.#now = end;
  }

  #push(event: Event): void {
    const heap = this.#heap;
    let place = heap.push(event) - 1;
    while (place > 0) {
      const parent = (place - 1) >> 1;
      if (!isBefore(event, heap[parent]!)) break;
      heap[place] = heap[parent]!;
      place = parent;
    }
    heap[place] = event;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    let place = 0;
    for (;;) {
      let child = 2 * place + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child += 1;
      if (!isBefore(heap[child]!, last)) break;
      heap[place] = heap[child]!;
      place = child;
    }
    heap[place] = last;
  }
}

function isBefore(a: Event, b: Event): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}
