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

test("a value is made once for equal bytes", () => {
  const { get, made } = recording(2);
  expect(get(key(1))).toBe(get(key(1)));
  expect(made).toEqual([1]);
});

test("beyond the limit the key that was not asked for longest is forgotten", () => {
  const { get, made } = recording(2);
  for (const byte of [1, 2, 1, 3, 1, 2]) get(key(byte));
  expect(made).toEqual([1, 2, 3, 2]);
});

test("bytes that change later do not change what is remembered", () => {
  const { get } = recording(2);
  const mine = key(1);
  get(mine);
  mine.fill(2);
  expect(get(mine)).toEqual({ made: 2 });
});

test("a key for which nothing can be made is not remembered", () => {
  let calls = 0;
  const get = createKeyCache(2, () => {
    calls += 1;
    throw new RangeError("no");
  });
  expect(() => get(key(1))).toThrow(RangeError);
  expect(() => get(key(1))).toThrow(RangeError);
  expect(calls).toBe(2);
});
