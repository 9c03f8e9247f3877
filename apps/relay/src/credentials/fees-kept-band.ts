import { MICRO } from "@agent/budget";

/** Lower bounds in USD, as credentials name them. */
const BANDS = [
  ["50", 50 * MICRO],
  ["5", 5 * MICRO],
  ["0.5", MICRO / 2],
  ["0.05", MICRO / 20],
] as const;

/** Returns the band of fees in micro-units: the highest bound that they reach, in USD. */
export function getFeesKeptBand(fees: number): string {
  return BANDS.find(([, bound]) => fees >= bound)?.[0] ?? "0";
}
