const FIRST_CAPACITY = 1_024;
const CALLS_PER_KEY = 8;

/** The calls of the last `windowMs` of every key. */
export interface SlidingWindow {
  /** Forgets what has left the window at `time` and answers the calls that `key` has in it. */
  count(key: string, time: number): number;
  /** The time of the key's oldest call in the window. */
  oldest(key: string): number | undefined;
  add(key: string, time: number): void;
}

/**
 * All calls stand in one ring in the order of their times, so that forgetting is a matter of its
 * front. The ring and the chains through it are typed arrays: an object per address would let
 * 100,000 addresses cost 70 MB. Beyond `maxKeys`, or eight calls for each, the oldest go early.
 */
export function createSlidingWindow(windowMs: number, maxKeys: number): SlidingWindow {
  const maxCalls = maxKeys * CALLS_PER_KEY;

  // Calls by sequence number; its low bits are the place in the ring.
  let times = new Float64Array(FIRST_CAPACITY);
  let owners = new Uint32Array(FIRST_CAPACITY);
  let followers = new Uint32Array(FIRST_CAPACITY);
  let front = 0;
  let end = 0;

  // Keys by slot: the first and the last of their calls, and how many there are.
  const slots = new Map<string, number>();
  const keys: string[] = [];
  const freeSlots: number[] = [];
  const firsts = new Uint32Array(maxKeys);
  const lasts = new Uint32Array(maxKeys);
  const counts = new Uint32Array(maxKeys);

  const place = (sequence: number): number => sequence & (times.length - 1);

  function forgetFront(): void {
    const slot = owners[place(front)] ?? 0;
    const left = (counts[slot] ?? 0) - 1;
    counts[slot] = left;
    firsts[slot] = followers[place(front)] ?? 0;
    if (left === 0) {
      slots.delete(keys[slot] ?? "");
      freeSlots.push(slot);
    }
    front += 1;
  }

  function newSlot(key: string): number {
    while (slots.size >= maxKeys) forgetFront();
    const slot = freeSlots.pop() ?? keys.length;
    keys[slot] = key;
    slots.set(key, slot);
    return slot;
  }

  function grow(): void {
    const capacity = times.length * 2;
    const [newTimes, newOwners] = [new Float64Array(capacity), new Uint32Array(capacity)];
    const newFollowers = new Uint32Array(capacity);
    for (let sequence = front; sequence < end; sequence += 1) {
      const to = sequence & (capacity - 1);
      newTimes[to] = times[place(sequence)] ?? 0;
      newOwners[to] = owners[place(sequence)] ?? 0;
      newFollowers[to] = followers[place(sequence)] ?? 0;
    }
    [times, owners, followers] = [newTimes, newOwners, newFollowers];
  }

  return {
    count(key, time) {
      while (front < end && (times[place(front)] ?? 0) <= time - windowMs) forgetFront();
      const slot = slots.get(key);
      return slot === undefined ? 0 : (counts[slot] ?? 0);
    },

    oldest(key) {
      const slot = slots.get(key);
      return slot === undefined ? undefined : times[place(firsts[slot] ?? 0)];
    },

    add(key, time) {
      if (end - front >= maxCalls) forgetFront();
      if (end - front === times.length) grow();
      const slot = slots.get(key) ?? newSlot(key);
      const count = counts[slot] ?? 0;
      times[place(end)] = time;
      owners[place(end)] = slot;
      if (count === 0) firsts[slot] = end;
      else followers[place(lasts[slot] ?? 0)] = end;
      lasts[slot] = end;
      counts[slot] = count + 1;
      end += 1;
    },
  };
}
