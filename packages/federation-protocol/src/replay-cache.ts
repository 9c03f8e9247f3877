/** Keys that were taken within a time, such as signatures or query ids; bounded in number. */
export class ReplayCache {
  readonly #lifetimeMs: number;
  readonly #capacity: number;
  /** In the order in which they were taken, and so of their ends. */
  readonly #ends = new Map<string, number>();

  /** Beyond `capacity` the oldest keys are forgotten early. */
  constructor(lifetimeMs: number, capacity = 100_000) {
    this.#lifetimeMs = lifetimeMs;
    this.#capacity = capacity;
  }

  /** Whether the key is new at `now` (ms); a new one is taken from then on. */
  add(key: string, now: number): boolean {
    for (const [old, end] of this.#ends) {
      if (end >= now) break;
      this.#ends.delete(old);
    }
    if (this.#ends.has(key)) return false;
    const [oldest] = this.#ends.keys();
    if (oldest !== undefined && this.#ends.size >= this.#capacity) this.#ends.delete(oldest);
    this.#ends.set(key, now + this.#lifetimeMs);
    return true;
  }
}
