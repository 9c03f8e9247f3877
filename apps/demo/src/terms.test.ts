import fc from "fast-check";
import { expect, test } from "vitest";
import { reportOf, stem, vocabularyOf, wordsOf } from "./terms.ts";

test("words are lower case, three letters or more, and none that every text has", () => {
  expect(wordsOf("The Relay: it signs 12 receipts, and AI verifies über-receipts.")).toEqual([
    "relay",
    "signs",
    "receipts",
    "verifies",
    "über",
    "receipts",
  ]);
  expect(wordsOf("")).toEqual([]);
});

test("the vocabulary has each word once, in order", () => {
  expect(vocabularyOf(["relay", "agent", "relay"])).toEqual(["agent", "relay"]);
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
  expect(stem(word)).toBe(expected);
});

test("a report counts by stem, the most frequent first, then alphabetically", () => {
  const words = ["relays", "agent", "relay", "task", "agents", "relay"];
  const vocabulary = vocabularyOf(words);
  expect(reportOf(words, vocabulary, vocabulary.map(stem))).toEqual({
    words: 6,
    terms: 3,
    top: [
      ["relay", 3],
      ["agent", 2],
      ["task", 1],
    ],
  });
});

test("of a text with few terms every word is counted, once", () => {
  const word = fc.constantFrom("agent", "agents", "hashes", "relay", "relays", "task", "tasks");
  fc.assert(
    fc.property(fc.array(word), (words) => {
      const vocabulary = vocabularyOf(words);
      const { top, terms } = reportOf(words, vocabulary, vocabulary.map(stem));
      expect(top).toHaveLength(terms);
      expect(top.reduce((sum, [, count]) => sum + count, 0)).toBe(words.length);
    }),
  );
});
