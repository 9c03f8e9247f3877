import { limits, type Offer } from "@agent/wire";
import type { RequestContext } from "../http/mount.ts";

interface Shown {
  readonly offer: Offer;
  readonly characters: number;
  /** Grows with each card, so that the later of two can be told. */
  readonly order: number;
}

/** What agents' cards have told their readers of prices; bounded, and gone with the process. */
export interface ShownOffers {
  /** A card with this offer goes out as the answer to a request. */
  record(context: Reading, agentId: string, offer: Offer): void;
  /** The offer of the agent's card that this caller got last. */
  latest(context: Reading, agentId: string): Offer | undefined;
}

type Reading = Pick<RequestContext, "caller" | "clientIp">;

/**
 * Remembers for each caller the newest cards. Cards are public, so most of them are read without a
 * token: then the address stands for the caller. No caller can push out what another one was shown
 * before a thousand of them have read a card.
 */
export function createShownOffers(): ShownOffers {
  const readers = new Map<string, Map<string, Shown>>();
  let cards = 0;

  return {
    record(context, agentId, offer) {
      const reader = namedCaller(context) ?? address(context);
      const shown = readers.get(reader) ?? new Map<string, Shown>();
      readers.delete(reader);
      readers.set(reader, shown);
      shown.delete(agentId);
      cards += 1;
      shown.set(agentId, { offer, characters: JSON.stringify(offer).length, order: cards });
      forgetOldest(shown);
      const [oldest] = readers.keys();
      if (readers.size > limits.cardReaders && oldest !== undefined) readers.delete(oldest);
    },
    latest(context, agentId) {
      const known = [namedCaller(context), address(context)].flatMap(
        (reader) => readers.get(reader ?? "")?.get(agentId) ?? [],
      );
      return known.toSorted((a, b) => b.order - a.order)[0]?.offer;
    },
  };
}

/** Keeps the newest offers of one reader, and always the last one. */
function forgetOldest(shown: Map<string, Shown>): void {
  let kept = 0;
  for (const { characters } of shown.values()) kept += characters;
  for (const [agentId, { characters }] of shown) {
    if (kept <= limits.cardReaderCharacters || shown.size === 1) return;
    shown.delete(agentId);
    kept -= characters;
  }
}

function namedCaller({ caller }: Reading): string | undefined {
  if (caller.kind === "agent") return `agent ${caller.agentId}`;
  return caller.kind === "master" ? "operator" : undefined;
}

function address({ clientIp }: Reading): string {
  return `address ${clientIp()}`;
}
