import { expect, test } from "vitest";
import { getSharedSlots } from "./shared-slots.ts";

test.each([
  [0, 50_000, 1_000],
  [999, 50_000, 1_000],
  [1_000, 60_000, 10_000],
  [9_999, 60_000, 10_000],
  [10_000, 70_000, 100_000],
  [100_000, 80_000, 1_000_000],
  [1_000_000, 90_000, 10_000_000],
  [9_999_999, 90_000, 10_000_000],
  [10_000_000, 100_000, null],
  [1_000_000_000, 100_000, null],
])("H20: tasks of %i micro-units may fill %i of 100,000 slots", (charge, slots, moreFrom) => {
  expect(getSharedSlots(100_000, charge)).toEqual({ slots, moreFrom });
});

test("H20: an attacker that keeps out tasks of a price must hold at least a thousand times that price", () => {
  const limit = 100_000;
  for (const charge of [1_000, 10_000, 100_000, 1_000_000, 10_000_000]) {
    // The cheapest tasks that may use all slots which tasks of this price may use.
    let held = 0;
    let filled = getSharedSlots(limit, 0).slots;
    for (let price = 1_000; filled < getSharedSlots(limit, charge).slots; price *= 10) {
      const { slots } = getSharedSlots(limit, price);
      held += (slots - filled) * price;
      filled = slots;
    }
    expect(held).toBeGreaterThanOrEqual(1_000 * charge);
  }
});
