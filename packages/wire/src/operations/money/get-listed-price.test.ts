import { describe, expect, test } from "vitest";
import { getListedPrice, type PricedListing } from "./get-listed-price.ts";

const priceOf = (capability: string, unit_cost: number) => ({ capability, unit_cost });
const listing: PricedListing = {
  capabilities: ["search", "write", "greet"],
  pricing: [priceOf("search", 2), priceOf("write", 0.000001)],
};
const free: PricedListing = { capabilities: ["search"], pricing: [] };
const expensive: PricedListing = {
  capabilities: ["a", "b"],
  pricing: [priceOf("a", 1e9), priceOf("b", 1e9)],
};

describe("A12: the listed price of a task", () => {
  test.each<[string, PricedListing, string[], number | undefined]>([
    ["the highest price when no capability is required", listing, [], 2],
    ["the sum of the prices of the required capabilities", listing, ["search", "write"], 2.000001],
    ["0 for a listed capability without a price", listing, ["greet"], 0],
    ["undefined for a capability that is not listed", listing, ["fly"], undefined],
    [
      "undefined when one of several capabilities is not listed",
      listing,
      ["write", "fly"],
      undefined,
    ],
    ["0 for a free agent", free, [], 0],
    ["0 for the capability of a free agent", free, ["search"], 0],
    ["undefined for another capability of a free agent", free, ["fly"], undefined],
    ["the greatest amount", expensive, ["a"], 1e9],
    ["undefined above the greatest amount", expensive, ["a", "b"], undefined],
  ])("A12: the listed price is %s", (_rule, from, required, expected) => {
    expect(getListedPrice(from, required)).toBe(expected);
  });
});
