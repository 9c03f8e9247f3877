import { hkdfSync } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { bytesToHex } from "../formats.ts";
import { deriveSeed } from "./derive-seed.ts";

test("a derived seed is HKDF-SHA256 as Node.js computes it", () => {
  const seed = fc.uint8Array({ minLength: 32, maxLength: 32 });
  fc.assert(
    fc.property(seed, fc.string({ unit: "binary" }), (key, info) => {
      const expected = Buffer.from(hkdfSync("sha256", key, "", Buffer.from(info), 32));
      expect(bytesToHex(deriveSeed(key, info))).toBe(expected.toString("hex"));
    }),
    { numRuns: 50 },
  );
});

test("a seed is derived from 32 bytes only", () => {
  expect(() => deriveSeed(new Uint8Array(31), "info")).toThrow(RangeError);
});
