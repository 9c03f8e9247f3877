/**
 * Limits the age of entries: each one ends `ttlMs` (ms) after it was set, by the clock `now` (ms).
 */
export interface EntryLifetime {
  readonly ttlMs: number;
  readonly now: () => number;
}

interface Entry<Value> {
  readonly value: Value;
  readonly expiresAt: number;
}

/**
 * A map of at most `maxSize` entries for caches whose keys other parties choose. Beyond that size the
 * oldest entry is dropped. Setting an entry again makes it the newest one.
 */
export class BoundedMap<Key, Value> implements Iterable<readonly [Key, Value]> {
  readonly #maxSize: number;
  readonly #lifetime: EntryLifetime | undefined;
  readonly #entries = new Map<Key, Entry<Value>>();

  constructor(maxSize: number, lifetime?: EntryLifetime) {
    this.#maxSize = maxSize;
    this.#lifetime = lifetime;
  }

  /** The number of entries, including expired ones that have not been read since they expired. */
  get size(): number {
    return this.#entries.size;
  }

  /** Returns the value of a key; undefined if the entry is missing, dropped or expired. */
  get(key: Key): Value | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined || !this.#isExpired(entry)) return entry?.value;
    this.#entries.delete(key);
    return undefined;
  }

  /** Sets an entry, which becomes the newest, and returns the value of the entry dropped for it, if any. */
  set(key: Key, value: Value): Value | undefined {
    const lifetime = this.#lifetime;
    const expiresAt = lifetime === undefined ? Infinity : lifetime.now() + lifetime.ttlMs;
    this.#entries.delete(key);
    this.#entries.set(key, { value, expiresAt });
    if (this.#entries.size <= this.#maxSize) return undefined;
    const [[oldestKey, oldest] = [key, undefined]] = this.#entries;
    this.#entries.delete(oldestKey);
    return oldest?.value;
  }

  delete(key: Key): boolean {
    return this.#entries.delete(key);
  }

  /** Yields the entries that are not expired, oldest first. */
  *[Symbol.iterator](): Generator<readonly [Key, Value]> {
    for (const [key, entry] of this.#entries) {
      if (!this.#isExpired(entry)) yield [key, entry.value];
    }
  }

  #isExpired({ expiresAt }: Entry<Value>): boolean {
    return this.#lifetime !== undefined && this.#lifetime.now() >= expiresAt;
  }
}
