import { expect, test } from "vitest";
import { showBytes, showDuration, showMoney, sumMoney } from "./show-amount.ts";

test.each([
  [0, "0 ms"],
  [999, "999 ms"],
  [1_500, "1.5 s"],
  [61_000, "1 min 1 s"],
  [3_600_000, "1 h"],
  [90_061_000, "1 d 1 h"],
])("a duration of %i ms is shown as %s", (ms, text) => {
  expect(showDuration(ms)).toBe(text);
});

test.each([
  [1, "1 kB"],
  [999_000, "999 kB"],
  [1_000_000, "1.0 MB"],
  [2_550_000, "2.5 MB"],
])("a size of %i bytes is shown as %s", (bytes, text) => {
  expect(showBytes(bytes)).toBe(text);
});

test("money is shown and added to the millionth", () => {
  expect(showMoney(0.1)).toBe("0.10 USD");
  expect(showMoney(-1.000001)).toBe("−1.000001 USD");
  expect(sumMoney([0.1, 0.2, -0.3])).toBe(0);
});
