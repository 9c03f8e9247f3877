/** Repeatable randomness: the same seed gives the same sequence. */
export interface SeededRandom {
  /** Returns a number from 0 to below 1. */
  readonly next: () => number;
  /** Returns a whole number from 0 to below `limit`. */
  readonly below: (limit: number) => number;
  readonly randomBytes: (length: number) => Uint8Array;
  readonly pick: <T>(items: readonly [T, ...T[]]) => T;
}

/** Creates an sfc32 generator. A failing run can be repeated from its printed seed. */
export function createSeededRandom(seed: number): SeededRandom {
  let a = 0x9e3779b9;
  let b = seed | 0;
  let c = Math.floor(seed / 2 ** 32) | 0;
  let counter = 1;

  function nextWord(): number {
    const sum = (a + b + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + sum) | 0;
    return sum >>> 0;
  }

  // Seeds that differ in only one bit give similar sequences at first.
  for (let i = 0; i < 16; i++) nextWord();

  const next = () => nextWord() / 2 ** 32;
  const below = (limit: number) => Math.floor(next() * limit);
  return {
    next,
    below,
    randomBytes: (length) => Uint8Array.from({ length }, () => nextWord() & 0xff),
    pick: (items) => items[below(items.length)] ?? items[0],
  };
}
