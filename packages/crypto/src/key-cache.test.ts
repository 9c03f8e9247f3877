import { expect, test } from "vitest";
import { createKeyCache } from "./keys/key-cache.node.ts";

const key = (byte: number) => new Uint8Array(32).fill(byte);

function recording(limit: number) {
  const made: number[] = [];
  const get = createKeyCache(limit, (bytes) => {
    made.push(bytes[0]!);
    return { made: bytes[0]! };
  });
  return { get, made };
}

test("the key cache creates a value once for equal bytes", () => {
  const { get, made } = recording(2);
  expect(get(key(1))).toBe(get(key(1)));
  expect(made).toEqual([1]);
});

test("the key cache drops the least recently used key beyond its limit", () => {
  const { get, made } = recording(2);
  for (const byte of [1, 2, 1, 3, 1, 2]) get(key(byte));
  expect(made).toEqual([1, 2, 3, 2]);
});

test("a later change of the bytes does not change a cached value", () => {
  const { get } = recording(2);
  const mine = key(1);
  get(mine);
  mine.fill(2);
  expect(get(mine)).toEqual({ made: 2 });
});

test("a key whose value cannot be created is not cached", () => {
  let calls = 0;
  const get = createKeyCache(2, () => {
    calls += 1;
    throw new RangeError("no");
  });
  expect(() => get(key(1))).toThrow(RangeError);
  expect(() => get(key(1))).toThrow(RangeError);
  expect(calls).toBe(2);
});
