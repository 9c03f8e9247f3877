import { unwrapBody } from "../participants/unwrap-body.ts";
import { toMicro } from "../figures/money.ts";
import type { NetworkRelay } from "./relays.ts";

/** A relay's money at one moment, in USD. */
export interface RelayTotals {
  readonly relay: NetworkRelay;
  readonly consistent: boolean;
  readonly balances: number;
  readonly holds: number;
  readonly fees: number;
  /** What it owes each peer, by relay id; below 0 what the peer owes. */
  readonly positions: ReadonlyMap<string, number>;
}

async function getRelayTotals(relay: NetworkRelay): Promise<RelayTotals> {
  const { consistent, totals } = unwrapBody(await relay.operator.reconcile());
  const { peers } = unwrapBody(await relay.operator.listFederationPeers());
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
export async function waitUntilSettled(
  relays: readonly NetworkRelay[],
  limitMs = 30_000,
): Promise<RelayTotals[]> {
  const end = Date.now() + limitMs;
  for (;;) {
    const books = await Promise.all(relays.map(getRelayTotals));
    if (books.every(({ holds }) => holds === 0)) return books;
    if (Date.now() > end) throw new Error("not everything was settled in time");
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** Money of agents and relays over the whole network; what relays owe each other cancels out. */
export function sumMoney(books: readonly RelayTotals[]): number {
  return books.reduce(
    (sum, { balances, holds, fees }) => sum + toMicro(balances) + toMicro(holds) + toMicro(fees),
    0,
  );
}

/** Whether every two relays say the same of what is between them. */
export function positionsAgree(books: readonly RelayTotals[]): boolean {
  return books.every((own) =>
    books.every((other) => {
      const mine = own.positions.get(other.relay.info.relay_id) ?? 0;
      const theirs = other.positions.get(own.relay.info.relay_id) ?? 0;
      return toMicro(mine) + toMicro(theirs) === 0;
    }),
  );
}
