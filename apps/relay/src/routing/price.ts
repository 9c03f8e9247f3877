import { asMicro, isPriced, quoteTask, type Micro } from "@agent/budget";
import { pricesIn, type ListingBody, type Offer } from "@agent/wire";
import { findListing } from "../agents/listing-store.ts";
import type { Reader } from "../storage/storage.ts";

/** What an agent asks for one task, free without a listing; null where it does not sell that task. */
export async function priceOf(
  read: Reader,
  agentId: string,
  required: readonly string[],
): Promise<Micro | null> {
  const listing = await findListing(read, agentId);
  if (listing === undefined) return asMicro(0);
  return priceIn(JSON.parse(listing.body) as ListingBody, required);
}

/** The same of a listing that was read before. */
export function priceIn(
  { capabilities, pricing }: Offer,
  required: readonly string[],
): Micro | null {
  return quoteTask({ prices: pricesIn(pricing), listed: capabilities, required });
}

/** Whether a task for this agent can cost anything. */
export function hasPrice({ pricing }: Pick<Offer, "pricing">): boolean {
  return isPriced(pricesIn(pricing));
}
