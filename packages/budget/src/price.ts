import { saturatingSum, ZERO, type Micro } from "./money.ts";

/** What an agent asks for one task with a capability, in micro-units. */
export interface CapabilityPrice {
  readonly capability: string;
  readonly unitCost: Micro;
}

/**
 * The price of one task in micro-units: the sum of the unit costs of the required capabilities,
 * where one without a price costs nothing; with none required, the only price or the highest of
 * several (specification, "Market").
 */
export function estimateCost({
  prices,
  required = [],
}: {
  readonly prices: readonly CapabilityPrice[];
  readonly required?: readonly string[] | undefined;
}): Micro {
  if (required.length === 0) {
    return prices.reduce(
      (highest, { unitCost }) => (unitCost > highest ? unitCost : highest),
      ZERO,
    );
  }
  const costs = new Map(prices.map(({ capability, unitCost }) => [capability, unitCost]));
  // Asking for a capability twice does not buy it twice.
  return saturatingSum([...new Set(required)].map((capability) => costs.get(capability) ?? ZERO));
}

/** Whether an agent asks for money at all; prices of 0 make it free (specification, "Service listing"). */
export function isPriced(prices: readonly CapabilityPrice[]): boolean {
  return prices.some(({ unitCost }) => unitCost > 0);
}

/**
 * The price of one task in micro-units, or null where the agent does not sell that task: an agent that
 * asks for money must list every required capability, or a made-up word would buy its work for
 * nothing. An agent without a price takes any task at 0 (docs/decisions.md, 4).
 */
export function quoteTask({
  prices,
  listed,
  required = [],
}: {
  readonly prices: readonly CapabilityPrice[];
  /** The capabilities of the listing that names the prices. */
  readonly listed: readonly string[];
  readonly required?: readonly string[] | undefined;
}): Micro | null {
  const listsAll = required.every((capability) => listed.includes(capability));
  return listsAll || !isPriced(prices) ? estimateCost({ prices, required }) : null;
}
