import { BoundedMap } from "@agent/crypto";
import { listCountedNetworks } from "@agent/ip-networks";
import { limits, type PricedListing } from "@agent/wire";
import type { RequestContext } from "../http/handler.ts";

interface ShownOffer {
  readonly offer: PricedListing;
  readonly characters: number;
}

/** The prices that agents' cards showed to their readers; bounded. */
export interface ShownOffers {
  /** Records the offer of a card that answers a request. */
  record(context: OfferReader, agentId: string, offer: PricedListing): Promise<void> | void;
  /**
   * Returns the offer on the agent's card that this caller received last with its token, or otherwise that
   * its address received last. Other callers may share the address, and must not replace what this caller
   * has seen.
   */
  latest(
    context: OfferReader,
    agentId: string,
  ): PricedListing | undefined | Promise<PricedListing | undefined>;
}

export type OfferReader = Pick<RequestContext, "caller" | "clientIp">;

/**
 * Creates a store of the newest cards sent to each caller, in the memory of the only process. Cards are public
 * and mostly read without a token, so the address then identifies the caller. A caller can displace another
 * one's offers only after a thousand callers have read a card.
 */
export function createShownOffers() {
  const readers = new BoundedMap<string, Map<string, ShownOffer>>(limits.cardReaders);

  return {
    record(context, agentId, offer) {
      const [reader] = listReaders(context);
      const shown = readers.get(reader) ?? new Map<string, ShownOffer>();
      readers.set(reader, shown);
      shown.delete(agentId);
      shown.set(agentId, { offer, characters: JSON.stringify(offer).length });
      evictOldest(shown);
    },
    latest(context, agentId) {
      const offers = listReaders(context).map((reader) => readers.get(reader)?.get(agentId)?.offer);
      return offers.find((offer) => offer !== undefined);
    },
  } satisfies ShownOffers;
}

/** Drops the oldest offers of one reader, but never the last one. */
function evictOldest(shown: Map<string, ShownOffer>): void {
  let total = 0;
  for (const { characters } of shown.values()) total += characters;
  for (const [agentId, { characters }] of shown) {
    if (total <= limits.cardReaderCharacters || shown.size === 1) return;
    shown.delete(agentId);
    total -= characters;
  }
}

/** Lists the names under which a reader is known: that of its token, if it has one, then that of its address. */
export function listReaders(context: OfferReader): [string, ...string[]] {
  const caller = callerKey(context);
  const address = addressKey(context);
  return caller === undefined ? [address] : [caller, address];
}

function callerKey({ caller }: OfferReader): string | undefined {
  if (caller.kind === "agent") return `agent ${caller.agentId}`;
  return caller.kind === "master" ? "operator" : undefined;
}

function addressKey({ clientIp }: OfferReader): string {
  return `address ${listCountedNetworks(clientIp())[0]?.name ?? ""}`;
}
