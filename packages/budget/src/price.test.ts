import { describe, expect, test } from "vitest";
import { checkBalance, MAX_BALANCE } from "./account.ts";
import { MAX_AMOUNT, toMicro } from "./amount.ts";
import { estimateCost, quoteTask } from "./price.ts";

const price = (capability: string, unitCost: string) => ({
  capability,
  unitCost: toMicro(unitCost),
});
const listing = [price("search", "2"), price("write", "0.5"), price("draw", "7")];

describe("estimateCost", () => {
  test.each([
    ["the unit cost of the one required capability", listing, ["write"], "0.5"],
    ["the sum of the prices of the required capabilities", listing, ["search", "draw"], "9"],
    ["0 for a capability without a price", listing, ["search", "fly"], "2"],
    ["0 when no required capability has a price", listing, ["fly"], "0"],
    ["the same when a capability is required twice", listing, ["search", "search"], "2"],
    ["the only price when none is required", [price("search", "2")], [], "2"],
    ["the highest of several when none is required", listing, undefined, "7"],
    ["the highest when it is listed first", listing.toReversed(), undefined, "7"],
    ["0 without prices", [], undefined, "0"],
    ["0 without prices and with required capabilities", [], ["search"], "0"],
    ["0 for a capability named like a member of objects", listing, ["constructor"], "0"],
  ])("the estimated cost is %s", (_rule, prices, required, expected) => {
    expect(estimateCost({ prices, required })).toBe(toMicro(expected));
  });

  test("an estimated cost above every balance stays above every balance", () => {
    const prices = Array.from({ length: 10 }, (_, index) => ({
      capability: `c${index}`,
      unitCost: MAX_AMOUNT,
    }));
    const cost = estimateCost({ prices, required: prices.map(({ capability }) => capability) });
    expect(cost).toBeGreaterThan(MAX_BALANCE);
    expect(checkBalance(MAX_BALANCE - cost).ok).toBe(false);
  });
});

describe("B1: quoteTask", () => {
  const listed = ["search", "write", "draw", "greet"];
  const free = [price("search", "0")];
  const cheapest = [price("search", "0.000001")];

  test.each<[string, typeof listing, string[], string[] | undefined, string | null]>([
    ["the price of a listed capability", listing, listed, ["write"], "0.5"],
    ["0 for a capability that is listed without a price", listing, listed, ["greet"], "0"],
    [
      "the sum, also with a listed capability without a price",
      listing,
      listed,
      ["greet", "write"],
      "0.5",
    ],
    ["the highest price when none is required", listing, listed, undefined, "7"],
    ["none for a capability that is not listed", listing, listed, ["fly"], null],
    ["none when one of several is not listed", listing, listed, ["write", "fly"], null],
    ["none for a price outside the listed capabilities", listing, ["write"], ["draw"], null],
    ["none for a capability named like a member of arrays", listing, listed, ["length"], null],
    ["0 for anything from an agent without prices", [], [], ["fly"], "0"],
    ["none for it if one micro-unit is the price", cheapest, ["search"], ["fly"], null],
    ["0 for anything from an agent whose prices are 0", free, ["search"], ["fly"], "0"],
  ])("B1: the quote is %s", (_rule, prices, offered, required, expected) => {
    const quoted = quoteTask({ prices, listed: offered, required });
    expect(quoted).toBe(expected === null ? null : toMicro(expected));
  });
});
