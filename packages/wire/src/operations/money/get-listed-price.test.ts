import { describe, expect, test } from "vitest";
import { getListedPrice, type PricedListing } from "./get-listed-price.ts";

const priceOf = (capability: string, unit_cost: number) => ({ capability, unit_cost });
const offer: PricedListing = {
  capabilities: ["search", "write", "greet"],
  pricing: [priceOf("search", 2), priceOf("write", 0.000001)],
};
const free: PricedListing = { capabilities: ["search"], pricing: [] };
const dear: PricedListing = {
  capabilities: ["a", "b"],
  pricing: [priceOf("a", 1e9), priceOf("b", 1e9)],
};

describe("A12: The price that an offer shows", () => {
  test.each<[string, PricedListing, string[], number | undefined]>([
    ["the highest one when no capability is required", offer, [], 2],
    ["the sum of the required ones", offer, ["search", "write"], 2.000001],
    ["0 for a listed capability without a price", offer, ["greet"], 0],
    ["not there for a capability that is not offered", offer, ["fly"], undefined],
    ["not there when one of several is not offered", offer, ["write", "fly"], undefined],
    ["0 of a free agent", free, [], 0],
    ["0 of a free agent for its capability", free, ["search"], 0],
    ["not there for another capability of a free agent", free, ["fly"], undefined],
    ["not there above the greatest amount", dear, ["a", "b"], undefined],
  ])("A12: is %s", (_rule, from, required, expected) => {
    expect(getListedPrice(from, required)).toBe(expected);
  });
});
