/** Converts USD, with at most 6 decimals as the relay shows them, to micro-units. */
export function toMicro(dollars: number): number {
  return Math.round(dollars * 1e6);
}

/** Formats with two decimals, or six if needed. */
export function formatDollars(amount: number): string {
  const digits = toMicro(amount) % 10_000 === 0 ? 2 : 6;
  return amount.toFixed(digits);
}

/** Formats a rate of at most 6 decimals as a percentage. */
export function formatPercent(rate: number): string {
  return `${toMicro(rate) / 10_000} %`;
}

export function formatChange(before: number, after: number): string {
  const moved = (toMicro(after) - toMicro(before)) / 1e6;
  return moved > 0 ? `+${formatDollars(moved)}` : formatDollars(moved);
}
