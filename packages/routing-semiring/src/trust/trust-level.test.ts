import { describe, expect, test } from "vitest";
import { computeNextLevel, selectDisplayedLevel, getTrustScore } from "./trust-level.ts";

test.each([
  ["unknown", 0.1],
  ["first_contact", 0.3],
  ["verified", 0.6],
  ["trusted", 0.9],
  ["blocked", 0],
] as const)("%s scores %d", (level, score) => {
  expect(getTrustScore(level)).toBe(score);
});

describe("a success leads", () => {
  test.each([
    ["from unknown to first contact", "unknown", 1, 0, "first_contact"],
    ["nowhere with 4 successes", "first_contact", 4, 0, "first_contact"],
    ["to verified with 5", "first_contact", 5, 0, "verified"],
    ["to verified at a rate of 0.8", "first_contact", 8, 2, "verified"],
    ["nowhere at a lower rate", "first_contact", 7, 2, "first_contact"],
    ["nowhere with 19 successes", "verified", 19, 0, "verified"],
    ["to trusted with 20", "verified", 20, 0, "trusted"],
    ["to trusted at a rate of 0.9", "verified", 27, 3, "trusted"],
    ["nowhere at a rate just below", "verified", 26, 3, "verified"],
    ["as high as was earned, at once", "unknown", 20, 0, "trusted"],
    ["back up after a demotion", "unknown", 2, 2, "first_contact"],
    ["never down, even at a low rate", "trusted", 20, 30, "trusted"],
    ["never out of blocked", "blocked", 100, 0, "blocked"],
  ] as const)("%s", (_, level, successes, failures, expected) => {
    expect(computeNextLevel(level, "completed", successes, failures)).toBe(expected);
  });
});

describe("a failure leads", () => {
  test.each([
    ["from unknown to first contact, when it is the first task", "unknown", 0, 1, "first_contact"],
    ["nowhere with 2 tasks", "first_contact", 0, 2, "first_contact"],
    ["one level down with 3, when fewer than half succeeded", "first_contact", 1, 2, "unknown"],
    ["nowhere at exactly half", "verified", 5, 5, "verified"],
    ["one level down below it", "verified", 5, 6, "first_contact"],
    ["only one level down", "trusted", 20, 21, "verified"],
    ["not below unknown", "unknown", 0, 9, "unknown"],
    ["never up, even at a high rate", "unknown", 30, 1, "unknown"],
    ["never out of blocked", "blocked", 0, 1, "blocked"],
  ] as const)("%s", (_, level, successes, failures, expected) => {
    expect(computeNextLevel(level, "failed", successes, failures)).toBe(expected);
  });
});

describe("the level shown", () => {
  test.each([
    [
      "is one's own, whatever others hold",
      "first_contact",
      ["trusted", "trusted"],
      "first_contact",
    ],
    ["is one's own block", "blocked", ["trusted", "trusted"], "blocked"],
    ["else the best that two payers hold", null, ["verified", "verified", "unknown"], "verified"],
    ["which a higher one holds as well", null, ["trusted", "verified"], "verified"],
    ["never that of one payer alone", null, ["trusted"], "unknown"],
    ["never lowered by who blocked it", null, ["blocked", "trusted", "trusted"], "trusted"],
    ["unknown without payers", null, [], "unknown"],
  ] as const)("%s", (_, own, payers, expected) => {
    expect(selectDisplayedLevel(own, payers)).toBe(expected);
  });
});
