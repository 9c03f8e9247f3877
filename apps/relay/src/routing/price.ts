import { asMicro, estimateCost, toMicro, type Micro } from "@agent/budget";
import type { ListingBody } from "@agent/wire";
import { findListing } from "../agents/listing-store.ts";
import type { Reader } from "../storage/storage.ts";

/** What an agent's listing asks for one task; without a listing or a price it is free. */
export async function priceOf(
  read: Reader,
  agentId: string,
  required: readonly string[],
): Promise<Micro> {
  const listing = await findListing(read, agentId);
  if (listing === undefined) return asMicro(0);
  return priceIn((JSON.parse(listing.body) as ListingBody).pricing, required);
}

export function priceIn(pricing: ListingBody["pricing"], required: readonly string[]): Micro {
  const prices = pricing.map(({ capability, unit_cost }) => ({
    capability,
    unitCost: toMicro(unit_cost),
  }));
  return estimateCost({ prices, required });
}
