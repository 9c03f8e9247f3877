import { fromMicro, MAX_AMOUNT, quoteTask, toMicro, type CapabilityPrice } from "@agent/budget";

/** The part of a listing that decides what a task costs. */
export interface PricedListing {
  readonly capabilities: readonly string[];
  readonly pricing: readonly { readonly capability: string; readonly unit_cost: number }[];
}

/** The prices of a listing in micro-units. */
export function toCapabilityPrices(pricing: PricedListing["pricing"]): CapabilityPrice[] {
  return pricing.map(({ capability, unit_cost }) => ({ capability, unitCost: toMicro(unit_cost) }));
}

/**
 * What a reader of an offer may expect to pay for one task, as a `max_budget` in currency units;
 * undefined where the offer does not name all required capabilities, and so shows no price for them.
 */
export function getListedPrice(
  { capabilities, pricing }: PricedListing,
  required: readonly string[],
): number | undefined {
  if (!required.every((capability) => capabilities.includes(capability))) return undefined;
  const price = quoteTask({ prices: toCapabilityPrices(pricing), listed: capabilities, required });
  // Above the greatest amount there is nothing that a cap could be compared with.
  return price === null || price > MAX_AMOUNT ? undefined : fromMicro(price);
}
