const INITIAL_CAPACITY = 1_024;
const MAX_CALLS_PER_KEY = 8;

/** The calls of the last `windowMs` of every key. */
export interface SlidingWindow {
  /** Drops the calls that have left the window at `time` and returns the number of calls of `key`. */
  count(key: string, time: number): number;
  /** The time of the key's oldest call in the window. */
  oldest(key: string): number | undefined;
  add(key: string, time: number): void;
}

/**
 * All calls are in one ring in the order of their times, so old calls are dropped at its front. The
 * ring and the chains through it are typed arrays, because an object per address would cost 70 MB for
 * 100,000 addresses. Beyond `maxKeys`, or eight calls for each, the oldest calls are dropped.
 */
export function createSlidingWindow(windowMs: number, maxKeys: number): SlidingWindow {
  const maxCalls = maxKeys * MAX_CALLS_PER_KEY;

  // Calls by sequence number; its low bits are the index in the ring.
  let times = new Float64Array(INITIAL_CAPACITY);
  let owners = new Uint32Array(INITIAL_CAPACITY);
  let nextCalls = new Uint32Array(INITIAL_CAPACITY);
  let head = 0;
  let tail = 0;

  // Keys by slot, each with its first and last call and the number of its calls.
  const slots = new Map<string, number>();
  const keys: string[] = [];
  const freeSlots: number[] = [];
  const firsts = new Uint32Array(maxKeys);
  const lasts = new Uint32Array(maxKeys);
  const counts = new Uint32Array(maxKeys);

  const ringIndex = (sequence: number): number => sequence & (times.length - 1);

  function evictOldest(): void {
    const slot = owners[ringIndex(head)] ?? 0;
    const left = (counts[slot] ?? 0) - 1;
    counts[slot] = left;
    firsts[slot] = nextCalls[ringIndex(head)] ?? 0;
    if (left === 0) {
      slots.delete(keys[slot] ?? "");
      freeSlots.push(slot);
    }
    head += 1;
  }

  function newSlot(key: string): number {
    while (slots.size >= maxKeys) evictOldest();
    const slot = freeSlots.pop() ?? keys.length;
    keys[slot] = key;
    slots.set(key, slot);
    return slot;
  }

  function grow(): void {
    const capacity = times.length * 2;
    const [newTimes, newOwners] = [new Float64Array(capacity), new Uint32Array(capacity)];
    const newNextCalls = new Uint32Array(capacity);
    for (let sequence = head; sequence < tail; sequence += 1) {
      const to = sequence & (capacity - 1);
      newTimes[to] = times[ringIndex(sequence)] ?? 0;
      newOwners[to] = owners[ringIndex(sequence)] ?? 0;
      newNextCalls[to] = nextCalls[ringIndex(sequence)] ?? 0;
    }
    [times, owners, nextCalls] = [newTimes, newOwners, newNextCalls];
  }

  return {
    count(key, time) {
      while (head < tail && (times[ringIndex(head)] ?? 0) <= time - windowMs) evictOldest();
      const slot = slots.get(key);
      return slot === undefined ? 0 : (counts[slot] ?? 0);
    },

    oldest(key) {
      const slot = slots.get(key);
      return slot === undefined ? undefined : times[ringIndex(firsts[slot] ?? 0)];
    },

    add(key, time) {
      if (tail - head >= maxCalls) evictOldest();
      if (tail - head === times.length) grow();
      const slot = slots.get(key) ?? newSlot(key);
      const count = counts[slot] ?? 0;
      times[ringIndex(tail)] = time;
      owners[ringIndex(tail)] = slot;
      if (count === 0) firsts[slot] = tail;
      else nextCalls[ringIndex(lasts[slot] ?? 0)] = tail;
      lasts[slot] = tail;
      counts[slot] = count + 1;
      tail += 1;
    },
  };
}
