import { expect, test } from "vitest";
import { canLookUp, createLookupBudget, type LookupOrigin } from "./lookup-budget.ts";

const from = (network: string, count: number): LookupOrigin[] =>
  Array.from({ length: count }, () => ({ isProven: false, network }));
const proven = (network: string, count: number): LookupOrigin[] =>
  Array.from({ length: count }, () => ({ isProven: true, network }));

test.each<[string, readonly LookupOrigin[], LookupOrigin, boolean]>([
  ["the first of a network", [], { isProven: false, network: "a" }, true],
  ["the tenth of a network", from("a", 9), { isProven: false, network: "a" }, true],
  ["the eleventh of a network", from("a", 10), { isProven: false, network: "a" }, false],
  ["the first of a network beside a flood", from("a", 10), { isProven: false, network: "b" }, true],
  [
    "as many as are left",
    [...from("a", 10), ...from("b", 5)],
    { isProven: false, network: "b" },
    false,
  ],
  [
    "the twentieth of all",
    [...from("a", 10), ...from("b", 5), ...from("c", 4)],
    { isProven: false, network: "d" },
    true,
  ],
  [
    "the twenty-first of all",
    [...from("a", 10), ...from("b", 5), ...from("c", 5)],
    { isProven: false, network: "d" },
    false,
  ],
  ["a proven one beside a flood", from("a", 10), { isProven: true, network: "a" }, true],
  [
    "the fifteenth proven one of a network",
    proven("a", 14),
    { isProven: true, network: "a" },
    true,
  ],
  ["the sixteenth proven one", proven("a", 15), { isProven: true, network: "a" }, false],
  ["a proven one of another network", proven("a", 15), { isProven: true, network: "b" }, true],
  [
    "one without proof beside proven ones",
    proven("a", 15),
    { isProven: false, network: "a" },
    true,
  ],
])("E8: a look-up is sent or not: %s", (_, recent, next, expected) => {
  expect(canLookUp(recent, next)).toBe(expected);
});

test("E8: a refused look-up names the time after which there is room for it", () => {
  let now = 1_000_000;
  const budget = createLookupBudget({ now: () => now });
  const origin = { isProven: false, network: "a" };
  expect(budget.take(origin)).toBeUndefined();
  now += 20_000;
  for (let i = 0; i < 9; i += 1) expect(budget.take(origin)).toBeUndefined();
  expect(budget.take(origin)).toEqual({ status: "unavailable", retryAfterSeconds: 40 });
  now += 39_999;
  expect(budget.take(origin)).toMatchObject({ retryAfterSeconds: 1 });
  now += 1;
  expect(budget.take(origin)).toBeUndefined();
  expect(budget.take(origin)).toMatchObject({ retryAfterSeconds: 20 });
});

test("a clock that is set back does not prolong the limit", () => {
  let now = 1_000_000;
  const budget = createLookupBudget({ now: () => now });
  const origin = { isProven: false, network: "a" };
  for (let i = 0; i < 10; i += 1) budget.take(origin);
  now -= 500_000;
  expect(budget.take(origin)).toBeUndefined();
});
