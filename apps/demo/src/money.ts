/** Amounts of USD as the relay shows them, of at most 6 decimals, in whole micro-units. */
export function micro(dollars: number): number {
  return Math.round(dollars * 1e6);
}

/** Two decimals, or as many as it takes. */
export function dollars(amount: number): string {
  const digits = micro(amount) % 10_000 === 0 ? 2 : 6;
  return amount.toFixed(digits);
}

/** Of a rate of at most 6 decimals. */
export function percent(rate: number): string {
  return `${micro(rate) / 10_000} %`;
}

export function change(before: number, after: number): string {
  const moved = (micro(after) - micro(before)) / 1e6;
  return moved > 0 ? `+${dollars(moved)}` : dollars(moved);
}
