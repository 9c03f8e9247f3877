import { expect, it } from "vitest";
import { isCircuitOpen, recordForwardOutcome } from "./circuit-breaker.ts";

const history = (text: string) => text.split("").map((letter) => letter === "+");

it.each([
  ["", false],
  ["-----", false],
  ["------", true],
  ["+++---", false],
  ["++----", true],
  ["+++----", true],
  ["---+--", false],
  ["----+---", true],
  ["------++--", false],
  ["+++++----", false],
])("the circuit opens after the forwards %s: %s", (text, broken) => {
  expect(isCircuitOpen(history(text))).toBe(broken);
});

it("only the latest ten forwards count for the circuit", () => {
  const long = history("+".repeat(50));
  const failed = Array.from({ length: 6 }).reduce(
    (before: readonly boolean[]) => recordForwardOutcome(before, false),
    long,
  );
  expect(failed).toHaveLength(10);
  expect(isCircuitOpen(failed)).toBe(true);
});
