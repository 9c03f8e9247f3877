import { fromMicro, MAX_AMOUNT, quoteTask, toMicro, type CapabilityPrice } from "@agent/budget";

/** The part of a listing that determines the price of a task. */
export interface PricedListing {
  readonly capabilities: readonly string[];
  readonly pricing: readonly { readonly capability: string; readonly unit_cost: number }[];
}

/** Converts the prices of a listing to micro-units. */
export function toCapabilityPrices(pricing: PricedListing["pricing"]): CapabilityPrice[] {
  return pricing.map(({ capability, unit_cost }) => ({ capability, unitCost: toMicro(unit_cost) }));
}

/**
 * Returns the price of one task in US dollars, for use as `max_budget`; undefined if the listing lacks a
 * required capability or the price exceeds the maximum amount.
 */
export function getListedPrice(
  { capabilities, pricing }: PricedListing,
  required: readonly string[],
): number | undefined {
  if (!required.every((capability) => capabilities.includes(capability))) return undefined;
  const price = quoteTask({ prices: toCapabilityPrices(pricing), listed: capabilities, required });
  // `max_budget` cannot exceed the maximum amount.
  return price === null || price > MAX_AMOUNT ? undefined : fromMicro(price);
}
