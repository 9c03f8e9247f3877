import { randomFillSync } from "node:crypto";

const poolBytes = 8_192;

/** Random bytes out of a pool that is filled at once: ids need few at a time, and a call is dear. */
export function randomPool(): (length: number) => Uint8Array {
  const pool = new Uint8Array(poolBytes);
  let taken = poolBytes;
  return (length) => {
    if (length > poolBytes) return randomFillSync(new Uint8Array(length));
    if (taken + length > poolBytes) {
      randomFillSync(pool);
      taken = 0;
    }
    taken += length;
    return pool.slice(taken - length, taken);
  };
}
