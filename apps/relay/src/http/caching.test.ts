import { expect, test } from "vitest";
import { acceptsGzip, isTagKnown } from "./caching.ts";

test.each([
  ["gzip", true],
  ["br, gzip;q=0.5", true],
  ["deflate, GZIP", true],
  ["gzip;q=0", false],
  ["gzip; q=0.000, br", false],
  ["x-gzip-like", false],
  [null, false],
])("Accept-Encoding %j allows gzip: %j", (header, allowed) => {
  expect(acceptsGzip(header)).toBe(allowed);
});

test.each([
  [`"a"`, true],
  [`"b", W/"a"`, true],
  ["*", true],
  [`"b"`, false],
  [null, false],
])("If-None-Match %j names the tag: %j", (header, known) => {
  expect(isTagKnown(header, `"a"`)).toBe(known);
});
