import { saturatingSum, ZERO, type Micro } from "./money.ts";

/** The price of an agent for one task with a capability, in micro-units. */
export interface CapabilityPrice {
  readonly capability: string;
  readonly unitCost: Micro;
}

/**
 * Computes the price of one task in micro-units: the sum of the unit costs of the required capabilities,
 * where a capability without a price costs 0; if no capability is required, the highest price
 * (specification, "Market").
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
  // A capability that is required twice is charged once.
  return saturatingSum([...new Set(required)].map((capability) => costs.get(capability) ?? ZERO));
}

/** Returns whether an agent has a price above 0 (specification, "Service listing"). */
export function isPriced(prices: readonly CapabilityPrice[]): boolean {
  return prices.some(({ unitCost }) => unitCost > 0);
}

/**
 * Quotes the price of one task in micro-units; null if the agent does not offer it. An agent that charges
 * must list every required capability, because its work could otherwise be had for free under an invented
 * one. An agent without prices accepts any task at 0 (docs/decisions.md, 4).
 */
export function quoteTask({
  prices,
  listed,
  required = [],
}: {
  readonly prices: readonly CapabilityPrice[];
  /** The capabilities of the listing that states the prices. */
  readonly listed: readonly string[];
  readonly required?: readonly string[] | undefined;
}): Micro | null {
  const listsAll = required.every((capability) => listed.includes(capability));
  return listsAll || !isPriced(prices) ? estimateCost({ prices, required }) : null;
}
