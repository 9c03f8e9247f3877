import { expect, test } from "vitest";
import { asMicro } from "../money.ts";
import { toMicro } from "../amount.ts";
import { computeLeastLoss, countsForParties } from "./inspection-cost.ts";

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
  { due: 2, fee: 0.1, platformFeeRate: 0.05, least: 50_000 },
  // To give up is cheaper than half of the relay's fee.
  { due: 2, fee: 0.02, platformFeeRate: 0.05, least: 10_000 },
  { due: 0.000001, fee: 0.01, platformFeeRate: 0.05, least: 0 },
  { due: 2, fee: 0.1, platformFeeRate: 0, least: 0 },
])("a dispute about $due with a fee of $fee costs at least $least", (row) => {
  const stake = { ...row, due: toMicro(row.due), fee: toMicro(row.fee) };
  expect(computeLeastLoss(stake)).toBe(asMicro(row.least));
});
