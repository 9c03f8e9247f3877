import { expect, test } from "vitest";
import { canonicalize } from "./json/canonical-json.ts";
import { hexToBytes } from "./formats.ts";
import { unlessMalformed } from "./unless-malformed.ts";

test("gives the result, or undefined for a text or value of the wrong form", () => {
  expect(unlessMalformed(() => 1)).toBe(1);
  expect(unlessMalformed(() => hexToBytes("x"))).toBeUndefined();
  expect(unlessMalformed(() => canonicalize(Number.NaN))).toBeUndefined();
});

test("hides no other error", () => {
  const bug = () => {
    throw new TypeError("a bug");
  };
  expect(() => unlessMalformed(bug)).toThrow("a bug");
});
