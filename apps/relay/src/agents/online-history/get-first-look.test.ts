import { expect, test } from "vitest";
import { MAX_MISS_MS } from "./decide-span.ts";
import { getFirstLook } from "./get-first-look.ts";

const KNOWN = 1_000_000;

test.each([
  ["when it was known, if no look found it", [], KNOWN],
  ["with the look that found it", [KNOWN + 30_000], KNOWN + 30_000],
  ["with the first of the looks that found it", [KNOWN + 30_000, KNOWN + 300_000], KNOWN + 30_000],
  ["with the look that found it after one was missed", [KNOWN + MAX_MISS_MS], KNOWN + MAX_MISS_MS],
  ["when it was known, if it came later", [KNOWN + MAX_MISS_MS + 1], KNOWN],
  ["when it was known, if it was online before", [KNOWN - 30_000], KNOWN],
])("the looks at an agent count from %s", (_, spans, first) => {
  expect(
    getFirstLook(
      KNOWN,
      spans.map((since) => ({ since })),
    ),
  ).toBe(first);
});
