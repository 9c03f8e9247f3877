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
