import { expect, test } from "vitest";
import { getFeesKeptBand } from "./fees-kept-band.ts";

test.each([
  [0, "0"],
  [49_999, "0"],
  [50_000, "0.05"],
  [499_999, "0.05"],
  [500_000, "0.5"],
  [4_999_999, "0.5"],
  [5_000_000, "5"],
  [50_000_000, "50"],
  [1e12, "50"],
])("C5: fees of %i micro-units are in the band %s", (fees, band) => {
  expect(getFeesKeptBand(fees)).toBe(band);
});
