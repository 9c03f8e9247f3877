import fc from "fast-check";
import { expect, test } from "vitest";
import { buildTermReport, stemWord, buildVocabulary, extractWords } from "./terms.ts";

test("words are in lower case, of three letters or more, and without common ones", () => {
  expect(extractWords("The Relay: it signs 12 receipts, and AI verifies über-receipts.")).toEqual([
    "relay",
    "signs",
    "receipts",
    "verifies",
    "über",
    "receipts",
  ]);
  expect(extractWords("")).toEqual([]);
});

test("the vocabulary contains each word once, in order", () => {
  expect(buildVocabulary(["relay", "agent", "relay"])).toEqual(["agent", "relay"]);
});

test.each([
  ["receipts", "receipt"],
  ["identities", "identity"],
  ["addresses", "address"],
  ["hashes", "hash"],
  ["services", "service"],
  ["status", "status"],
  ["address", "address"],
  ["analysis", "analysis"],
  ["apis", "apis"],
  ["agent", "agent"],
])("the stem of %s is %s", (word, expected) => {
  expect(stemWord(word)).toBe(expected);
});

test("a report counts by stem, the most frequent first, then alphabetically", () => {
  const words = ["relays", "agent", "relay", "task", "agents", "relay"];
  const vocabulary = buildVocabulary(words);
  expect(buildTermReport(words, vocabulary, vocabulary.map(stemWord))).toEqual({
    words: 6,
    terms: 3,
    top: [
      ["relay", 3],
      ["agent", 2],
      ["task", 1],
    ],
  });
});

test("a report of a short text counts every word", () => {
  const word = fc.constantFrom("agent", "agents", "hashes", "relay", "relays", "task", "tasks");
  fc.assert(
    fc.property(fc.array(word), (words) => {
      const vocabulary = buildVocabulary(words);
      const { top, terms } = buildTermReport(words, vocabulary, vocabulary.map(stemWord));
      expect(top).toHaveLength(terms);
      expect(top.reduce((sum, [, count]) => sum + count, 0)).toBe(words.length);
    }),
  );
});
