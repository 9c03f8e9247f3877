import fc from "fast-check";
import { describe, expect, test } from "vitest";
import vectors from "../../../vectors/own/money.json" with { type: "json" };
import { toMicro } from "./amount.ts";
import { asMicro } from "./money.ts";
import { decideSettlement, computeSettlementAmount } from "./settlement.ts";

const steps = fc
  .tuple(fc.nat(256), fc.nat(256))
  .map(([a, b]) => ({ completed: Math.min(a, b), total: Math.max(a, b) }));

describe("computeSettlementAmount", () => {
  test.each(vectors.partial)(
    "$completed_steps of $total_steps completed steps settle $amount_locked as $amount_settled",
    ({ amount_locked, completed_steps, total_steps, amount_settled }) => {
      expect(
        computeSettlementAmount({
          status: "completed",
          charge: toMicro(amount_locked),
          steps: { completed: completed_steps, total: total_steps },
        }).amount,
      ).toBe(toMicro(amount_settled));
    },
  );

  test.each([
    ["completed", undefined, "completed", "3.141592"],
    ["completed", { completed: 4, total: 4 }, "completed", "3.141592"],
    ["completed", { completed: 0, total: 0 }, "completed", "3.141592"],
    ["completed", { completed: 1, total: 2 }, "partial", "1.57"],
    ["completed", { completed: 0, total: 2 }, "refunded", "0"],
    ["failed", undefined, "refunded", "0"],
    ["failed", { completed: 2, total: 2 }, "refunded", "0"],
    ["denied", undefined, "refunded", "0"],
    ["denied", { completed: 1, total: 2 }, "refunded", "0"],
  ] as const)(
    "computeSettlementAmount settles a %s receipt with steps %o as %s, %s",
    (status, count, outcome, amount) => {
      expect(
        computeSettlementAmount({ status, charge: toMicro("3.141592"), steps: count }),
      ).toEqual({
        status: outcome,
        amount: toMicro(amount),
      });
    },
  );

  test("computeSettlementAmount settles no more than a price with fractions of a cent", () => {
    const charge = toMicro("0.009");
    const twoThirds = { completed: 2, total: 3 };
    expect(computeSettlementAmount({ status: "completed", charge, steps: twoThirds })).toEqual({
      status: "partial",
      amount: charge,
    });
  });

  test.each([
    { completed: 3, total: 2 },
    { completed: -1, total: 2 },
    { completed: 0.5, total: 2 },
    { completed: Number.NaN, total: 2 },
    { completed: 1, total: Infinity },
    { completed: 1, total: Number.NaN },
  ])("computeSettlementAmount throws for $completed of $total steps", (count) => {
    expect(() =>
      computeSettlementAmount({ status: "completed", charge: toMicro(1), steps: count }),
    ).toThrow(RangeError);
  });

  test("computeSettlementAmount throws for a negative price", () => {
    expect(() => computeSettlementAmount({ status: "failed", charge: toMicro(-1) })).toThrow(
      RangeError,
    );
  });
});

describe("decideSettlement", () => {
  test.each([
    // receipt, steps, hold, price -> status, paid, fee, net, back to the payer
    ["completed", undefined, "2.4", "2", "completed", "2", "0.1", "1.9", "0.4"],
    ["completed", undefined, "2", "2", "completed", "2", "0.1", "1.9", "0"],
    ["completed", [1, 2], "2.4", "2", "partial", "1", "0.05", "0.95", "1.4"],
    ["completed", [1, 2], "2", "2", "partial", "1", "0.05", "0.95", "1"],
    ["completed", [0, 2], "2.4", "2", "refunded", "0", "0", "0", "2.4"],
    ["failed", undefined, "2.4", "2", "refunded", "0", "0", "0", "2.4"],
    ["failed", undefined, "2", "2", "refunded", "0", "0", "0", "2"],
    ["denied", [1, 2], "2.4", "2", "refunded", "0", "0", "0", "2.4"],
    ["completed", undefined, "0", "0", "completed", "0", "0", "0", "0"],
  ] as const)(
    "a %s receipt with steps %o, hold %s and price %s settles as %s: paid %s, fee %s, net %s, returned %s",
    (receiptStatus, count, locked, charge, status, amount, fee, net, released) => {
      expect(
        decideSettlement({
          receiptStatus,
          locked: toMicro(locked),
          charge: toMicro(charge),
          steps: count && { completed: count[0], total: count[1] },
          feeRate: 0.05,
        }),
      ).toEqual({
        status,
        amount: toMicro(amount),
        fee: toMicro(fee),
        net: toMicro(net),
        released: toMicro(released),
      });
    },
  );

  test("a settlement never pays more than the price, and net, fee and returned rest add up to the hold", () => {
    fc.assert(
      fc.property(
        fc.constantFrom("completed" as const, "failed" as const, "denied" as const),
        fc.integer({ min: 0, max: 9_000_000_000_000_000 }).map(asMicro),
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.option(steps, { nil: undefined }),
        fc.integer({ min: 0, max: 999_999 }),
        (receiptStatus, locked, share, count, ppm) => {
          const charge = asMicro(Math.floor(locked * share));
          const decision = decideSettlement({
            receiptStatus,
            locked,
            charge,
            steps: count,
            feeRate: ppm / 1_000_000,
          });
          expect(decision.amount).toBeLessThanOrEqual(charge);
          expect(decision.fee + decision.net).toBe(decision.amount);
          expect(decision.amount + decision.released).toBe(locked);
        },
      ),
    );
  });

  test("decideSettlement throws if the price exceeds the hold", () => {
    expect(() =>
      decideSettlement({
        receiptStatus: "completed",
        locked: toMicro(1),
        charge: toMicro("1.000001"),
        feeRate: 0.05,
      }),
    ).toThrow(RangeError);
  });
});
