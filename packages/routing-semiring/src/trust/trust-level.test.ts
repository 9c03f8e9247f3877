import { describe, expect, test } from "vitest";
import { computeNextLevel, getTrustScore } from "./trust-level.ts";

test.each([
  ["unknown", 0.1],
  ["first_contact", 0.3],
  ["verified", 0.6],
  ["trusted", 0.9],
  ["blocked", 0],
] as const)("the level %s has the score %d", (level, score) => {
  expect(getTrustScore(level)).toBe(score);
});

describe("computeNextLevel after a success", () => {
  test.each([
    ["from unknown to first contact", "unknown", 1, 0, "first_contact"],
    ["to no other level with 4 successes", "first_contact", 4, 0, "first_contact"],
    ["to verified with 5", "first_contact", 5, 0, "verified"],
    ["to verified at a rate of 0.8", "first_contact", 8, 2, "verified"],
    ["to no other level at a lower rate", "first_contact", 7, 2, "first_contact"],
    ["to no other level with 19 successes", "verified", 19, 0, "verified"],
    ["to trusted with 20", "verified", 20, 0, "trusted"],
    ["to trusted at a rate of 0.9", "verified", 27, 3, "trusted"],
    ["to no other level at a rate just below", "verified", 26, 3, "verified"],
    ["to the earned level at once", "unknown", 20, 0, "trusted"],
    ["to a higher level after a demotion", "unknown", 2, 2, "first_contact"],
    ["to no lower level, even at a low rate", "trusted", 20, 30, "trusted"],
    ["to no other level from blocked", "blocked", 100, 0, "blocked"],
  ] as const)("a success leads %s", (_, level, successes, failures, expected) => {
    expect(computeNextLevel(level, "completed", successes, failures)).toBe(expected);
  });
});

describe("computeNextLevel after a failure", () => {
  test.each([
    ["from unknown to first contact if it is the first task", "unknown", 0, 1, "first_contact"],
    ["to no other level with 2 tasks", "first_contact", 0, 2, "first_contact"],
    ["one level down with 3 tasks if fewer than half succeeded", "first_contact", 1, 2, "unknown"],
    ["to no other level at exactly half", "verified", 5, 5, "verified"],
    ["one level down below half", "verified", 5, 6, "first_contact"],
    ["only one level down", "trusted", 20, 21, "verified"],
    ["to no level below unknown", "unknown", 0, 9, "unknown"],
    ["to no higher level, even at a high rate", "unknown", 30, 1, "unknown"],
    ["to no other level from blocked", "blocked", 0, 1, "blocked"],
  ] as const)("a failure leads %s", (_, level, successes, failures, expected) => {
    expect(computeNextLevel(level, "failed", successes, failures)).toBe(expected);
  });
});
