import { asMicro, isPriced, quoteTask, type Micro } from "@agent/budget";
import { toCapabilityPrices, type ListingBody, type PricedListing } from "@agent/wire";
import { findListing } from "../agents/discovery/listing-store.ts";
import type { Reader } from "../storage/storage.ts";

/**
 * Returns an agent's price for one task: free without a listing, null where it does not sell that task.
 */
export async function getTaskPrice(
  read: Reader,
  agentId: string,
  required: readonly string[],
): Promise<Micro | null> {
  const listing = await findListing(read, agentId);
  if (listing === undefined) return asMicro(0);
  return calculateTaskPrice(JSON.parse(listing.body) as ListingBody, required);
}

/** Calculates the same price from a listing that was read before. */
export function calculateTaskPrice(
  { capabilities, pricing }: PricedListing,
  required: readonly string[],
): Micro | null {
  return quoteTask({ prices: toCapabilityPrices(pricing), listed: capabilities, required });
}

/** Whether a task for this agent can cost anything. */
export function isPricedListing({ pricing }: Pick<PricedListing, "pricing">): boolean {
  return isPriced(toCapabilityPrices(pricing));
}
