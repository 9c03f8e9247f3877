import { expect, test } from "vitest";
import { asMicro } from "../money.ts";
import { toMicro } from "../amount.ts";
import { computeLeastLoss, countsForArbiter, countsForParties } from "./inspection-cost.ts";

test.each([
  { due: 2, fee: 0.1, platformFeeRate: 0.05, counts: true },
  { due: 0.02, fee: 0.01, platformFeeRate: 0.05, counts: true },
  { due: 0.01998, fee: 0.01, platformFeeRate: 0.05, counts: false },
  { due: 0.000001, fee: 0.01, platformFeeRate: 0.05, counts: false },
  // A fee for the due sum that is small beside that of a dispute.
  { due: 2, fee: 0.1, platformFeeRate: 0.005, counts: true },
  { due: 2, fee: 0.1, platformFeeRate: 0.0049, counts: false },
  // No fee for a dispute, or none for the relay.
  { due: 0.000001, fee: 0, platformFeeRate: 0.05, counts: true },
  { due: 0.000001, fee: 0.01, platformFeeRate: 0, counts: true },
])(
  "a due sum of $due with a fee of $fee, at a rate of $platformFeeRate, counts: $counts",
  (row) => {
    const stake = { ...row, due: toMicro(row.due), fee: toMicro(row.fee) };
    expect(countsForParties(stake)).toBe(row.counts);
  },
);

test.each([
  ["a share that left a fee", { paid: 0.2 }, true],
  ["a share that left less than a tenth of the arbitration fee", { paid: 0.19 }, false],
  ["no share", { paid: 0 }, false],
  ["no share, for a customer", { paid: 0, submitterFees: 50_000 }, true],
  ["no share, for one who left too little", { paid: 0, submitterFees: 49_999 }, false],
  ["all of a negligible sum", { due: 0.000001, paid: 0.000001, fee: 0.01 }, false],
  [
    "all of a negligible sum, for a customer",
    { due: 0.000001, paid: 0.000001, fee: 0.01, submitterFees: 1e9 },
    false,
  ],
  ["no share, where the relay keeps no fee", { paid: 0, platformFeeRate: 0 }, true],
])("E27: a decision that pays %s counts for its arbiter or not: %o, %s", (_, given, counts) => {
  const { due, paid, fee, ...rest } = { due: 2, fee: 0.1, submitterFees: 0, ...given };
  const amounts = { due: toMicro(due), paid: asMicro(Math.round(paid * 1e6)), fee: toMicro(fee) };
  const dispute = { platformFeeRate: 0.05, ...rest, ...amounts };
  expect(countsForArbiter(dispute, asMicro(50_000))).toBe(counts);
});

test("E27: where the operator requires no fees, a decision counts as its case does for the parties", () => {
  const dispute = { due: toMicro(2), paid: asMicro(0), fee: toMicro(0.1), platformFeeRate: 0.05 };
  expect(countsForArbiter({ ...dispute, submitterFees: 0 }, asMicro(0))).toBe(true);
});

test.each([
  { due: 2, fee: 0.1, platformFeeRate: 0.05, least: 50_000 },
  // To give up is cheaper than half of the relay's fee.
  { due: 2, fee: 0.02, platformFeeRate: 0.05, least: 10_000 },
  { due: 0.000001, fee: 0.01, platformFeeRate: 0.05, least: 0 },
  { due: 2, fee: 0.1, platformFeeRate: 0, least: 0 },
])("a dispute about $due with a fee of $fee costs at least $least", (row) => {
  const stake = { ...row, due: toMicro(row.due), fee: toMicro(row.fee) };
  expect(computeLeastLoss(stake)).toBe(asMicro(row.least));
});
