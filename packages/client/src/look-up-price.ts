import { shownPrice, type Offer } from "@agent/wire";
import type { CallRefusal } from "./refusal.ts";
import type { RelayClient } from "./relay-client.ts";
import { retry, within, type Patience } from "./retry.ts";

interface Look {
  readonly agentId: string;
  readonly required: readonly string[];
}

type LookedUp = { readonly ok: true; readonly price: number | undefined } | CallRefusal;

/**
 * Reads what the relay shows as the price of a task, in US dollars; undefined where it shows none, as
 * for an agent that it does not know or that does not offer a required capability. An agent without a
 * listing here may be free, or belong to another relay that tells its prices.
 */
export async function lookUpPrice(
  client: RelayClient,
  { agentId, required }: Look,
  patience: Patience,
): Promise<LookedUp> {
  const request = { params: { agentId } };
  const read = <T extends { readonly ok: true }>(attempt: () => Promise<T | CallRefusal>) =>
    retry(attempt, true, patience);
  const listing = await read(() => client.getListing(request, within(patience)));
  if (listing.ok) return shown(listing.body, required);
  if (listing.status !== 404) return listing;
  const agent = await read(() => client.getAgent(request, within(patience)));
  if (!agent.ok) return agent.status === 404 ? { ok: true, price: undefined } : agent;
  const { pricing, cost } = agent.body;
  // Another relay may tell what its agent costs without telling the prices that make it up.
  if (pricing.length === 0 && cost !== null) return { ok: true, price: cost };
  return shown(agent.body, required);
}

function shown(offer: Offer, required: readonly string[]): LookedUp {
  return { ok: true, price: shownPrice(offer, required) };
}
