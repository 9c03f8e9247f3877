/** Amounts of USD as the relay shows them, of at most 6 decimals, in whole micro-units. */
export function toMicro(dollars: number): number {
  return Math.round(dollars * 1e6);
}

/** Two decimals, or as many as it takes. */
export function formatDollars(amount: number): string {
  const digits = toMicro(amount) % 10_000 === 0 ? 2 : 6;
  return amount.toFixed(digits);
}

/** Of a rate of at most 6 decimals. */
export function formatPercent(rate: number): string {
  return `${toMicro(rate) / 10_000} %`;
}

export function formatChange(before: number, after: number): string {
  const moved = (toMicro(after) - toMicro(before)) / 1e6;
  return moved > 0 ? `+${formatDollars(moved)}` : formatDollars(moved);
}
