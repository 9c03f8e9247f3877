import { expect, test } from "vitest";
import { canonicalize } from "./json/canonical-json.ts";
import { hexToBytes } from "./formats.ts";
import { unlessMalformed } from "./unless-malformed.ts";

test("unlessMalformed returns the result, or undefined for a malformed text or value", () => {
  expect(unlessMalformed(() => 1)).toBe(1);
  expect(unlessMalformed(() => hexToBytes("x"))).toBeUndefined();
  expect(unlessMalformed(() => canonicalize(Number.NaN))).toBeUndefined();
});

test("unlessMalformed throws all other errors", () => {
  const bug = () => {
    throw new TypeError("a bug");
  };
  expect(() => unlessMalformed(bug)).toThrow("a bug");
});
