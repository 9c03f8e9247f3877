/** Chance that can be repeated: the same seed gives the same sequence. */
export interface SeededRandom {
  /** A number from 0 up to, not including, 1. */
  readonly next: () => number;
  /** A whole number from 0 up to, not including, `limit`. */
  readonly below: (limit: number) => number;
  readonly randomBytes: (length: number) => Uint8Array;
  readonly pick: <T>(items: readonly [T, ...T[]]) => T;
}

/** The generator is sfc32; print the seed of a failing run and it can be run again. */
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

  // Seeds that differ in one bit give like sequences at first.
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
