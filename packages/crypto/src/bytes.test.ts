import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { bytesToUtf8, concatBytes, equalBytes, utf8ToBytes } from "./bytes.ts";
import { EncodingError } from "./formats.ts";

// One character of each length in UTF-8.
const text = fc.string({ unit: fc.constantFrom("a", "\u0000", "é", "€", "\u{1f600}") });

describe("utf8ToBytes", () => {
  test("utf8ToBytes encodes like every UTF-8 encoder", () => {
    fc.assert(fc.property(text, (t) => Buffer.from(t).equals(utf8ToBytes(t))));
  });

  test("utf8ToBytes replaces a lone surrogate by U+FFFD", () => {
    expect([...utf8ToBytes("\ud800")]).toEqual([0xef, 0xbf, 0xbd]);
  });
});

describe("bytesToUtf8", () => {
  test("bytesToUtf8 decodes what a strict decoder of the platform decodes, and refuses the rest", () => {
    const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
    const bytes = fc.oneof(fc.uint8Array(), text.map(utf8ToBytes));
    const decode = (read: () => string) => {
      try {
        return read();
      } catch {
        return null;
      }
    };
    fc.assert(
      fc.property(bytes, (b) => {
        expect(decode(() => bytesToUtf8(b))).toBe(decode(() => decoder.decode(b)));
      }),
    );
  });

  test.each([[0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xe2, 0x82]])(
    "bytesToUtf8 refuses the bytes %j %j",
    (...bytes) => {
      expect(() => bytesToUtf8(Uint8Array.from(bytes))).toThrow(EncodingError);
    },
  );
});

test("concatBytes joins any number of parts in order and shares none of them", () => {
  const part = Uint8Array.of(1, 2);
  const joined = concatBytes(part, Uint8Array.of(), Uint8Array.of(3));
  part[0] = 9;
  expect([...joined]).toEqual([1, 2, 3]);
  expect(concatBytes()).toHaveLength(0);
});

test.each([
  { left: [], right: [], equal: true },
  { left: [1, 2], right: [1, 2], equal: true },
  { left: [1, 2], right: [1, 3], equal: false },
  { left: [1, 2], right: [0, 2], equal: false },
  { left: [1, 2], right: [1, 2, 0], equal: false },
])("equalBytes of $left and $right is $equal", ({ left, right, equal }) => {
  expect(equalBytes(Uint8Array.from(left), Uint8Array.from(right))).toBe(equal);
});
