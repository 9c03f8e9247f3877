/** Keeps the first `limit` of the added items in order, without sorting the others. */
export class TopSelection<T> {
  readonly #limit: number;
  readonly #compare: (a: T, b: T) => number;
  readonly #kept: T[] = [];
  #last: T | undefined;

  constructor(limit: number, compare: (a: T, b: T) => number) {
    this.#limit = limit >= 1 ? Math.floor(limit) : 0;
    this.#compare = compare;
  }

  add(item: T): void {
    if (this.#limit === 0) return;
    if (this.#last !== undefined && this.#compare(item, this.#last) >= 0) return;
    this.#kept.push(item);
    if (this.#kept.length >= 2 * this.#limit + 64) this.#trim();
  }

  /** Returns the first items, best first. */
  list(): T[] {
    this.#trim();
    return [...this.#kept];
  }

  #trim(): void {
    this.#kept.sort(this.#compare);
    if (this.#kept.length < this.#limit) return;
    this.#kept.length = this.#limit;
    this.#last = this.#kept.at(-1);
  }
}
