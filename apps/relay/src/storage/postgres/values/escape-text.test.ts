import fc from "fast-check";
import { expect, test } from "vitest";
import { escapeText, unescapeText } from "./escape-text.ts";

test.each([
  ["plain", "plain"],
  ["a\0b", "a\u00010b"],
  ["a\u0001b", "a\u00011b"],
  ["\0\u00010", "\u00010\u000110"],
])("the text %j is escaped as %j", (text, escaped) => {
  expect(escapeText(text)).toBe(escaped);
});

test("every text is returned as it was, and no U+0000 is stored", () => {
  const texts = fc.string({ unit: fc.constantFrom("\0", "\u0001", "0", "1", "é", "a") });
  fc.assert(
    fc.property(texts, (text) => {
      expect(unescapeText(escapeText(text))).toBe(text);
      expect(escapeText(text)).not.toContain("\0");
    }),
  );
});
