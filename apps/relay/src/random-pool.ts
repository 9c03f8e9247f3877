import { randomFillSync } from "node:crypto";

const POOL_BYTES = 8_192;

/** Returns random bytes from a pool, because ids need few bytes and each system call is expensive. */
export function createRandomPool(): (length: number) => Uint8Array {
  const pool = new Uint8Array(POOL_BYTES);
  let offset = POOL_BYTES;
  return (length) => {
    if (length > POOL_BYTES) return randomFillSync(new Uint8Array(length));
    if (offset + length > POOL_BYTES) {
      randomFillSync(pool);
      offset = 0;
    }
    offset += length;
    return pool.slice(offset - length, offset);
  };
}
