import fc from "fast-check";
import { describe, expect, test } from "vitest";
import vectors from "../../../vectors/own/money.json" with { type: "json" };
import { MAX_BALANCE } from "./account.ts";
import { allocatePlan, computeLockAmount } from "./allocation.ts";
import { toMicro } from "./amount.ts";
import { asMicro } from "./money.ts";

const balance = fc.integer({ min: 0, max: MAX_BALANCE }).map(asMicro);
const riskFactor = fc.double({ min: 0, noNaN: true, noDefaultInfinity: true });

describe("computeLockAmount", () => {
  test.each(vectors.lock)(
    "computeLockAmount locks $locked for estimate $estimate, risk $risk_factor and available $available",
    ({ estimate, risk_factor, available, locked }) => {
      expect(
        computeLockAmount({
          estimate: toMicro(estimate),
          riskFactor: Number(risk_factor),
          available: toMicro(available),
        }),
      ).toBe(locked === null ? null : toMicro(locked));
    },
  );

  test.each([
    ["120 percent of the estimate by default", "2", undefined, "10", "2.4"],
    ["all that is available when that is less", "2", undefined, "2.1", "2.1"],
    ["the estimate when exactly that is available", "2", undefined, "2", "2"],
    ["no amount one micro-unit below the estimate", "2", undefined, "1.999999", null],
    ["0 for a free task, even without money", "0", undefined, "0", "0"],
    ["an amount rounded up at half a micro-unit", "0.000005", 0.5, "1", "0.000006"],
    [
      "the exact amount for a risk factor of many decimals",
      "1000000",
      0.123456789,
      "2000000",
      "1024691.3578",
    ],
    ["all that is available at any risk", "1", 1e308, "5", "5"],
    ["the estimate at next to no risk", "1", 5e-324, "5", "1"],
  ])("computeLockAmount locks %s", (_rule, estimate, risk, available, locked) => {
    expect(
      computeLockAmount({
        estimate: toMicro(estimate),
        ...(risk !== undefined && { riskFactor: risk }),
        available: toMicro(available),
      }),
    ).toBe(locked === null ? null : toMicro(locked));
  });

  test("computeLockAmount never locks more than is available or less than the estimate", () => {
    fc.assert(
      fc.property(balance, balance, riskFactor, (one, other, risk) => {
        const [estimate, available] = one < other ? [one, other] : [other, one];
        const locked = computeLockAmount({ estimate, riskFactor: risk, available });
        expect(locked).toBeGreaterThanOrEqual(estimate);
        expect(locked).toBeLessThanOrEqual(available);
      }),
    );
  });

  test("computeLockAmount locks no amount if less than the estimate is available", () => {
    fc.assert(
      fc.property(balance, balance, riskFactor, (one, other, risk) => {
        fc.pre(one !== other);
        const [estimate, available] = one > other ? [one, other] : [other, one];
        expect(computeLockAmount({ estimate, riskFactor: risk, available })).toBeNull();
      }),
    );
  });

  test.each([Number.NaN, Infinity, -0.1])(
    "computeLockAmount throws for a risk factor of %s",
    (risk) => {
      const amount = toMicro(1);
      expect(() =>
        computeLockAmount({ estimate: amount, riskFactor: risk, available: amount }),
      ).toThrow(RangeError);
    },
  );

  test("computeLockAmount throws for a negative estimate", () => {
    expect(() => computeLockAmount({ estimate: toMicro(-1), available: toMicro(1) })).toThrow(
      RangeError,
    );
  });
});

describe("allocatePlan", () => {
  const steps = [
    { agentId: "ann", cost: toMicro(2) },
    { agentId: "bob", cost: toMicro("0.5") },
    { agentId: "ann", cost: toMicro(3) },
    { agentId: "cid", cost: toMicro(0) },
  ];

  test("allocatePlan allocates to each agent its steps at their prices", () => {
    expect(allocatePlan({ steps, budget: toMicro("5.5") })).toEqual([
      { agentId: "ann", steps: [steps[0], steps[2]], amount: toMicro(5) },
      { agentId: "bob", steps: [steps[1]], amount: toMicro("0.5") },
      { agentId: "cid", steps: [steps[3]], amount: toMicro(0) },
    ]);
  });

  test("allocatePlan allocates nothing if the total exceeds the budget by a micro-unit", () => {
    expect(allocatePlan({ steps, budget: toMicro("5.499999") })).toEqual([]);
  });

  test("allocatePlan allocates nothing without steps", () => {
    expect(allocatePlan({ steps: [], budget: toMicro(1) })).toEqual([]);
  });

  test("allocatePlan allocates nothing if the sum leaves the safe range", () => {
    const dear = Array.from({ length: 4 }, () => ({ agentId: "ann", cost: MAX_BALANCE }));
    expect(allocatePlan({ steps: dear, budget: MAX_BALANCE })).toEqual([]);
  });

  test("allocatePlan allocates exactly the cost of a plan within the budget", () => {
    const step = fc.record({
      agentId: fc.constantFrom("ann", "bob", "cid"),
      cost: fc.integer({ min: 0, max: 1_000_000 }).map(asMicro),
    });
    fc.assert(
      fc.property(fc.array(step), (plan) => {
        const total = plan.reduce((sum, { cost }) => sum + cost, 0);
        const allocations = allocatePlan({ steps: plan, budget: asMicro(total) });
        expect(allocations.reduce((sum, { amount }) => sum + amount, 0)).toBe(total);
        expect(allocations.reduce((sum, each) => sum + each.steps.length, 0)).toBe(plan.length);
        expect(new Set(allocations.map(({ agentId }) => agentId)).size).toBe(allocations.length);
      }),
    );
  });
});
