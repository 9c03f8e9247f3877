import { expect, test } from "vitest";
import { findNextWebhook, isLaneWanted } from "./lane-order.ts";
import type { DueWebhook } from "./store.ts";

/** Each waiting webhook is written as its owner and a number: `b2`. */
const parse = (waiting: string): DueWebhook[] =>
  waiting
    .split(" ")
    .filter((name) => name !== "")
    .map((webhook_id) => ({ webhook_id, owner: webhook_id.slice(0, 1) }));

const countIn = (lanes: Record<string, number>) => (owner: string) => lanes[owner] ?? 0;

test.each([
  ["the first one if no owner has a lane", "a1 b1 c1", {}, "a1"],
  ["the first owner without a lane", "a1 b1 c1", { a: 1 }, "b1"],
  ["the owner with the fewest lanes", "a1 b1 c1 a2", { a: 3, b: 2, c: 1 }, "c1"],
  ["the first of those with equally few lanes", "a1 b1 c1", { a: 2, b: 1, c: 1 }, "b1"],
  ["the only one that waits, up to four lanes", "a4", { a: 3 }, "a4"],
  ["none if the owner has four lanes", "a5 a6", { a: 4 }, undefined],
  ["none if none waits", "", { a: 1 }, undefined],
] as const)("H3: the next lane is for %s", (_, waiting, lanes, expected) => {
  expect(findNextWebhook(parse(waiting), countIn(lanes))?.webhook_id).toBe(expected);
});

test.each([
  ["an owner without a lane waits", "b1", { a: 1 }, true],
  ["an owner with fewer lanes waits", "b2", { a: 3, b: 1 }, true],
  ["its owner has another webhook that waits", "a5", { a: 4 }, true],
  ["none waits", "", { a: 4 }, false],
  ["only owners with as many lanes wait", "b2 c2", { a: 1, b: 1, c: 1 }, false],
  ["only owners with more lanes wait", "b5", { a: 1, b: 4 }, false],
] as const)(
  "H3: a lane is given up only if another webhook needs it: %s",
  (_, waiting, lanes, expected) => {
    expect(isLaneWanted(parse(waiting), countIn(lanes), "a")).toBe(expected);
  },
);
