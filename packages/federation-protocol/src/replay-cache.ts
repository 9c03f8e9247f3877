/** A bounded set of recently seen keys, such as signatures or query ids, each kept for a lifetime. */
export class ReplayCache {
  readonly #lifetimeMs: number;
  readonly #capacity: number;
  /** In insertion order, which is also the order of expiry. */
  readonly #ends = new Map<string, number>();

  /** `lifetimeMs` is in ms. Beyond `capacity` the oldest keys are dropped early. */
  constructor(lifetimeMs: number, capacity = 100_000) {
    this.#lifetimeMs = lifetimeMs;
    this.#capacity = capacity;
  }

  /** Adds a key and returns whether it was new at `now`, in ms by any clock that the caller chooses. */
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
