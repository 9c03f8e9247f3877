import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isUuid, uuidV7 } from "./uuid-v7.ts";

const random = Uint8Array.from({ length: 10 }, (_, i) => 0xf0 + i);

describe("uuidV7", () => {
  test("uuidV7 returns the example of RFC 9562 for its time and random bits", () => {
    const bytes = Uint8Array.of(0x0c, 0xc3, 0x18, 0xc4, 0xdc, 0x0c, 0x0c, 0x07, 0x39, 0x8f);
    expect(uuidV7(1645557742000, bytes)).toBe("017f22e2-79b0-7cc3-98c4-dc0c0c07398f");
  });

  test("UUIDs of version 7 sort by time", () => {
    const time = fc.nat({ max: 2 ** 48 - 1 });
    fc.assert(
      fc.property(time, time, (a, b) => {
        const inOrder = uuidV7(a, random) <= uuidV7(b, random);
        expect(inOrder).toBe(a <= b);
      }),
    );
  });

  test("uuidV7 always returns a UUID and uses no byte past the tenth", () => {
    fc.assert(
      fc.property(fc.nat(), fc.uint8Array({ minLength: 10, maxLength: 16 }), (now, bytes) => {
        expect(isUuid(uuidV7(now, bytes))).toBe(true);
        expect(uuidV7(now, bytes)).toBe(uuidV7(now, bytes.slice(0, 10)));
      }),
    );
  });

  test.each([-1, 0.5, 2 ** 48, Number.NaN, Infinity])("uuidV7 throws on the time %s", (now) => {
    expect(() => uuidV7(now, random)).toThrow(RangeError);
  });

  test("uuidV7 throws on fewer than 10 random bytes", () => {
    expect(() => uuidV7(0, random.slice(1))).toThrow(RangeError);
  });
});

test.each([
  ["version 7", "017f22e2-79b0-7cc3-98c4-dc0c0c07398f", true],
  ["version 4", "017f22e2-79b0-4cc3-a8c4-dc0c0c07398f", true],
  ["version 8", "017f22e2-79b0-8cc3-b8c4-dc0c0c07398f", true],
  ["version 1", "017f22e2-79b0-1cc3-98c4-dc0c0c07398f", false],
  ["another variant", "017f22e2-79b0-7cc3-c8c4-dc0c0c07398f", false],
  ["upper case", "017F22E2-79B0-7CC3-98C4-DC0C0C07398F", false],
  ["no hyphens", "017f22e279b07cc398c4dc0c0c07398f", false],
  ["braces", "{017f22e2-79b0-7cc3-98c4-dc0c0c07398f}", false],
  ["a line break behind it", "017f22e2-79b0-7cc3-98c4-dc0c0c07398f\n", false],
  ["all zero", "00000000-0000-0000-0000-000000000000", false],
  ["nothing", "", false],
])("an id of %s: %s is %s", (_, text, expected) => {
  expect(isUuid(text)).toBe(expected);
});
