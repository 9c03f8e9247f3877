import { showDollars, toMicroUnits } from "./show-text.ts";

/** Formats money as the contract states it, in US dollars. */
export const showMoney = (amount: number): string => showDollars(toMicroUnits(amount));

/** Adds amounts in US dollars without floating-point errors. */
export const sumMoney = (amounts: readonly number[]): number =>
  amounts.reduce((sum, amount) => sum + toMicroUnits(amount), 0) / 1e6;

const UNITS = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["min", 60_000],
  ["s", 1_000],
] as const;

/** Formats a duration in ms by its two largest units; below 10 seconds to a tenth of a second. */
export function showDuration(ms: number): string {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 10_000) return `${(ms / 1_000).toFixed(1)} s`;
  const first = UNITS.findIndex(([, size]) => ms >= size);
  const parts: string[] = [];
  let left = ms;
  for (const [unit, size] of UNITS.slice(first, first + 2)) {
    const count = Math.floor(left / size);
    left -= count * size;
    if (count > 0) parts.push(`${count} ${unit}`);
  }
  return parts.join(" ");
}

export function showBytes(bytes: number): string {
  return bytes < 1e6 ? `${Math.ceil(bytes / 1e3)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}

/** Formats a share of a whole. */
export const showPercent = (ratio: number): string => `${Math.round(ratio * 1_000) / 10} %`;
