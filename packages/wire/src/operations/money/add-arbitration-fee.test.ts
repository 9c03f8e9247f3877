import { expect, test } from "vitest";
import { addArbitrationFee } from "./add-arbitration-fee.ts";

test.each([
  [2, 2.1],
  [0.1, 0.11],
  [0.000001, 0.010001],
  [0.5, 0.525],
  [952_380_952.380952, 1_000_000_000],
  [952_380_952.380953, undefined],
  [1_000_000_000, undefined],
])("the price %f with the fee of its inspection is %f", (price, sum) => {
  expect(addArbitrationFee(price, { fee_rate: 0.05, fee_min: 0.01 })).toBe(sum);
});
