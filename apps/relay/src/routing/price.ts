import { isPriced, quoteTask, type Micro, ZERO } from "@agent/budget";
import { toCapabilityPrices, type PricedListing } from "@agent/wire";
import { findListing } from "../agents/discovery/listing-store.ts";
import type { Reader } from "../storage/storage.ts";
import type { Attempt } from "./attempt.ts";
import { parseListing } from "../agents/discovery/parse-listing.ts";

/**
 * Returns an agent's price for one task: free without a listing, null where it does not sell that task.
 */
export async function getTaskPrice(
  read: Reader,
  agentId: string,
  required: readonly string[],
): Promise<Micro | null> {
  const listing = await findListing(read, agentId);
  return parseListedPrice(listing?.body ?? null, required);
}

/** Returns the price of one task by the JSON of a listing; null, for none, makes it free. */
export function parseListedPrice(
  listing: string | null,
  required: readonly string[],
): Micro | null {
  return listing === null ? ZERO : calculateTaskPrice(parseListing(listing), required);
}

/**
 * Lists the local agents whose price for a task differs from the one that they were ranked with, because
 * this or another process has changed it since.
 */
export async function listRepriced(
  read: Reader,
  attempts: readonly Attempt[],
  required: readonly string[],
): Promise<string[]> {
  const repriced: string[] = [];
  for (const { agent_id, charge, via } of attempts) {
    if (via !== undefined) continue;
    if ((await getTaskPrice(read, agent_id, required)) !== charge) repriced.push(agent_id);
  }
  return repriced;
}

/** Calculates the price of one task from a listing; null where the listing does not sell that task. */
export function calculateTaskPrice(
  { capabilities, pricing }: PricedListing,
  required: readonly string[],
): Micro | null {
  return quoteTask({ prices: toCapabilityPrices(pricing), listed: capabilities, required });
}

/** Returns whether a listing has a price above zero. */
export function isPricedListing({ pricing }: Pick<PricedListing, "pricing">): boolean {
  return isPriced(toCapabilityPrices(pricing));
}
