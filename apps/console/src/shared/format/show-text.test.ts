import { expect, test } from "vitest";
import { showLine, showText } from "./show-text.ts";

test.each([
  ["a right-to-left override", "a\u202Eb", "a\\u{202e}b"],
  ["a zero-width space", "a\u200Bb", "a\\u{200b}b"],
  ["a Hangul filler, which is a letter", "\u3164", "\\u{3164}"],
  ["a combining grapheme joiner", "a\u034Fb", "a\\u{34f}b"],
  ["a variation selector", "a\uFE01b", "a\\u{fe01}b"],
  ["a variation selector of the supplement", "a\u{E0101}b", "a\\u{e0101}b"],
  ["a blank of braille", "a\u2800b", "a\\u{2800}b"],
  ["half of a pair", "a\uD800b", "a\\u{d800}b"],
])("D17: a text shows %s", (_, text, shown) => {
  expect(showText(text)).toBe(shown);
});

test("D17: a text shows no more combining marks on one letter than languages use", () => {
  expect(showText(`e${"\u0301".repeat(6)}f`)).toBe(`e${"\u0301".repeat(4)}\\u{301}\\u{301}f`);
});

test.each([
  "Zo\u0308e",
  "שָּׁלוֹם",
  "ngôn ngữ tiếng Việt",
  "日本語",
  "हिन्दी",
  "a\tb\nc",
  "🤖",
  "⚙️ Bot",
])("a text without hidden characters is shown unchanged: %j", (text) => {
  expect(showText(text)).toBe(text);
});

test("a text on one line has only single spaces, and an ellipsis where it is cut", () => {
  expect(showLine("  a\n\n b c ", 3)).toBe("a b…");
});
