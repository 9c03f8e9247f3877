/**
 * A memory of what `make` gave for each key, holding at most `limit` of them: the one that has not
 * been asked for longest goes first, so that a flood of strangers' keys leaves the busy ones alone.
 */
export function createKeyCache<Value>(
  maxSize: number,
  createValue: (key: Uint8Array) => Value,
): (key: Uint8Array) => Value {
  const values = new Map<string, Value>();
  return (key) => {
    const name = Buffer.from(key.buffer, key.byteOffset, key.byteLength).toString("latin1");
    const cached = values.get(name);
    const value = cached ?? createValue(key);
    if (cached !== undefined) {
      values.delete(name);
    } else if (values.size >= maxSize) {
      const [oldest = name] = values.keys();
      values.delete(oldest);
    }
    values.set(name, value);
    return value;
  };
}
