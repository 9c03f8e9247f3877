import { getListedPrice, type PricedListing } from "@agent/wire";
import type { CallRefusal } from "./calls/refusal.ts";
import type { RelayClient } from "./relay-client.ts";
import { retryRepeatable, type RetryOptions } from "./calls/retry.ts";

interface PriceQuery {
  readonly agentId: string;
  readonly required: readonly string[];
}

type PriceResult = { readonly ok: true; readonly price: number | undefined } | CallRefusal;

/**
 * Fetches the listed price of a task in US dollars; undefined if the relay does not know the agent or the
 * agent does not offer a required capability. An agent without a listing at this relay may be free or
 * have prices at another relay.
 */
export async function fetchListedPrice(
  client: RelayClient,
  { agentId, required }: PriceQuery,
  retryOptions: RetryOptions,
): Promise<PriceResult> {
  const request = { params: { agentId } };
  const listing = await retryRepeatable(
    (perCall) => client.getListing(request, perCall),
    retryOptions,
  );
  if (listing.ok) return toPriceResult(listing.body, required);
  if (listing.status !== 404) return listing;
  const agent = await retryRepeatable((perCall) => client.getAgent(request, perCall), retryOptions);
  if (!agent.ok) return agent.status === 404 ? { ok: true, price: undefined } : agent;
  const { pricing, cost } = agent.body;
  // Another relay may state the cost of its agent without individual prices.
  if (pricing.length === 0 && cost !== null) return { ok: true, price: cost };
  return toPriceResult(agent.body, required);
}

function toPriceResult(listing: PricedListing, required: readonly string[]): PriceResult {
  return { ok: true, price: getListedPrice(listing, required) };
}
