import { bodyOf } from "../body-of.ts";
import { micro } from "../money.ts";
import type { NetworkRelay } from "./relays.ts";

/** A relay's money at one moment, in USD. */
export interface Books {
  readonly relay: NetworkRelay;
  readonly consistent: boolean;
  readonly balances: number;
  readonly holds: number;
  readonly fees: number;
  /** What it owes each peer, by relay id; below 0 what the peer owes. */
  readonly positions: ReadonlyMap<string, number>;
}

async function readBooks(relay: NetworkRelay): Promise<Books> {
  const { consistent, totals } = bodyOf(await relay.operator.reconcile());
  const { peers } = bodyOf(await relay.operator.listFederationPeers());
  return {
    relay,
    consistent,
    balances: totals.balances,
    holds: totals.holds,
    fees: totals.fees,
    positions: new Map(peers.map(({ relay_id, position }) => [relay_id, position])),
  };
}

/** Waits until nothing is held anywhere: everything that was promised is settled. */
export async function settledBooks(
  relays: readonly NetworkRelay[],
  limitMs = 30_000,
): Promise<Books[]> {
  const end = Date.now() + limitMs;
  for (;;) {
    const books = await Promise.all(relays.map(readBooks));
    if (books.every(({ holds }) => holds === 0)) return books;
    if (Date.now() > end) throw new Error("not everything was settled in time");
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** Money of agents and relays over the whole network; what relays owe each other cancels out. */
export function moneyOf(books: readonly Books[]): number {
  return books.reduce(
    (sum, { balances, holds, fees }) => sum + micro(balances) + micro(holds) + micro(fees),
    0,
  );
}

/** Whether every two relays say the same of what is between them. */
export function agree(books: readonly Books[]): boolean {
  return books.every((own) =>
    books.every((other) => {
      const mine = own.positions.get(other.relay.info.relay_id) ?? 0;
      const theirs = other.positions.get(own.relay.info.relay_id) ?? 0;
      return micro(mine) + micro(theirs) === 0;
    }),
  );
}
