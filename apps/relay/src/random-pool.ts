import { randomFillSync } from "node:crypto";

const POOL_BYTES = 8_192;

/** Random bytes out of a pool that is filled at once: ids need few at a time, and a call is dear. */
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
