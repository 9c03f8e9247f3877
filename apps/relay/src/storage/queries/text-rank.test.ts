import { describe, expect, test } from "vitest";
import { rankText, parseSearchWords } from "./text-rank.ts";

describe("B10: the words of a search text", () => {
  test.each([
    ["French texts", "french texts"],
    ["  texts\tFRENCH\n texts ", "texts french"],
    ["ÄLTESTES Café", "ältestes café"],
    ["   ", ""],
    ["", ""],
    ["0 1 2 3 4 5 6 7 8 9 a b c d e f g", "0 1 2 3 4 5 6 7 8 9 a b c d e f"],
  ])("the words of %j are %j", (text, words) => {
    expect(parseSearchWords(text)).toBe(words);
  });
});

describe("B10: a search text ranks fields", () => {
  test.each<[string, (string | null)[], number]>([
    ["french texts", ["translates French legal texts"], 1],
    ["texts french", ["translates French legal texts"], 1],
    ["french texts", ["translates German legal texts"], 0],
    ["french texts", ["French", "legal texts"], 2],
    ["french texts", ["French", null, "German"], 0],
    ["french", ["French", null, "a french one", "English"], 2],
    ["café", ["ALTES CAFÉ"], 1],
    ["éa", ["ÉA"], 1],
    ["limerick", ["writes Limericks"], 1],
    ["a", [], 0],
  ])("the search text %j ranks the fields %j with %i", (text, fields, rank) => {
    expect(rankText(parseSearchWords(text), ...fields)).toBe(rank);
  });
});
