import fc from "fast-check";
import { describe, expect, test } from "vitest";
import vectors from "../../../vectors/own/money.json" with { type: "json" };
import { toMicro } from "./amount.ts";
import { computeFeeChain, isFeeRate, rateToPpm, splitFee } from "./fee.ts";
import { asMicro } from "./money.ts";

const amounts = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER }).map(asMicro);
const rates = fc.integer({ min: 0, max: 999_999 }).map((ppm) => ppm / 1_000_000);

/** Parses a decimal exactly in units of 1e-18, finer than all decimals in the vectors. */
const exact = (text: string): bigint => {
  const [whole = "", decimals = ""] = text.split(".");
  return BigInt(whole + decimals.padEnd(18, "0"));
};
const MICRO_UNIT = 10n ** 12n;
const distance = (a: bigint, b: bigint): bigint => (a > b ? a - b : b - a);

describe("rateToPpm and isFeeRate", () => {
  test.each([
    [0, 0],
    [0.05, 50_000],
    [0.1, 100_000],
    [0.333, 333_000],
    [0.000001, 1],
    [0.999999, 999_999],
  ])("a fee rate of %s is %s parts per million", (rate, ppm) => {
    expect(isFeeRate(rate)).toBe(true);
    expect(rateToPpm(rate)).toBe(ppm);
  });

  test.each([-0.01, 1, 1.5, 1 / 3, 1e-7, Number.NaN, Infinity])(
    "the number %s is refused as a fee rate",
    (rate) => {
      expect(isFeeRate(rate)).toBe(false);
      expect(() => rateToPpm(rate)).toThrow(RangeError);
    },
  );

  test.each(["0.05", null, undefined, [0.05]])(
    "the value %j is refused as a fee rate, because it is not a number",
    (rate) => {
      expect(isFeeRate(rate)).toBe(false);
    },
  );
});

describe("splitFee", () => {
  test.each([
    ["5 percent of 2", "2", 0.05, "0.1", "1.9"],
    ["0 at rate 0", "2", 0, "0", "2"],
    ["0 of 0", "0", 0.05, "0", "0"],
    ["rounded half up", "0.00001", 0.05, "0.000001", "0.000009"],
    ["rounded down below half", "0.000009", 0.05, "0", "0.000009"],
    ["a third as configured", "10", 0.333, "3.33", "6.67"],
    ["nearly all", "100", 0.99, "99", "1"],
    ["exact past the safe range of a double", "9000000000", 0.333333, "2999997000", "6000003000"],
  ])("the platform fee is %s", (_rule, amount, rate, fee, net) => {
    expect(splitFee(toMicro(amount), rate)).toEqual({ fee: toMicro(fee), net: toMicro(net) });
  });

  test("the platform fee and the rest add up to every amount at every rate", () => {
    fc.assert(
      fc.property(amounts, rates, (amount, rate) => {
        const { fee, net } = splitFee(amount, rate);
        expect(BigInt(fee) + BigInt(net)).toBe(BigInt(amount));
        expect(fee).toBeGreaterThanOrEqual(0);
        expect(net).toBeGreaterThanOrEqual(0);
      }),
    );
  });

  test("the platform fee of a negative amount throws", () => {
    expect(() => splitFee(toMicro(-1), 0.05)).toThrow(RangeError);
  });
});

describe("computeFeeChain", () => {
  test.each(vectors.fee_chain)(
    "computeFeeChain computes the fees of budget $budget at $fee_rate over $hops hops to a micro-unit",
    ({ budget, fee_rate, hops, agent_receives_exact, fees_exact }) => {
      const { fees, agentReceives } = computeFeeChain(toMicro(budget), Number(fee_rate), hops);

      expect(fees).toHaveLength(fees_exact.length);
      for (const [hop, fee] of fees.entries()) {
        const wanted = exact(fees_exact[hop] ?? "");
        expect(distance(BigInt(fee) * MICRO_UNIT, wanted)).toBeLessThan(MICRO_UNIT);
      }
      // Each hop rounds by at most half a micro-unit.
      const off = distance(BigInt(agentReceives) * MICRO_UNIT, exact(agent_receives_exact));
      expect(2n * off).toBeLessThanOrEqual(BigInt(hops) * MICRO_UNIT);
    },
  );

  test("all fees of a chain and the rest for the agent add up to the budget", () => {
    fc.assert(
      fc.property(amounts, rates, fc.nat(10), (budget, rate, hops) => {
        const { fees, agentReceives } = computeFeeChain(budget, rate, hops);
        const paid = fees.reduce((sum, fee) => sum + BigInt(fee), BigInt(agentReceives));
        expect(paid).toBe(BigInt(budget));
      }),
    );
  });

  test("without a hop the agent receives the whole budget", () => {
    expect(computeFeeChain(toMicro(3), 0.05, 0)).toEqual({ fees: [], agentReceives: toMicro(3) });
  });

  test.each([-1, 0.5, Number.NaN, Infinity])("a chain of %s hops throws", (hops) => {
    expect(() => computeFeeChain(toMicro(3), 0.05, hops)).toThrow(RangeError);
  });
});
