import { BoundedMap } from "../bounded-map.ts";

/**
 * Returns a function that calls `createValue` once per key and caches at most `maxSize` values. The
 * least recently used one is dropped first, so that many unknown keys do not displace the keys in use.
 */
export function createKeyCache<Value>(
  maxSize: number,
  createValue: (key: Uint8Array) => Value,
): (key: Uint8Array) => Value {
  const values = new BoundedMap<string, Value>(maxSize);
  return (key) => {
    const name = Buffer.from(key.buffer, key.byteOffset, key.byteLength).toString("latin1");
    const value = values.get(name) ?? createValue(key);
    values.set(name, value);
    return value;
  };
}
