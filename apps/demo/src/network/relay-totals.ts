import { unwrapBody } from "../participants/unwrap-body.ts";
import { toMicro } from "../figures/money.ts";
import type { NetworkRelay } from "./relays.ts";

/** A relay's amounts at one moment, in USD. */
export interface RelayTotals {
  readonly relay: NetworkRelay;
  readonly consistent: boolean;
  readonly balances: number;
  readonly holds: number;
  readonly fees: number;
  /** The debt to each peer, by relay id; negative if the peer is the debtor. */
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

/** Waits until no relay holds money any more, which means that all tasks are settled. */
export async function waitUntilSettled(relays: readonly NetworkRelay[]): Promise<RelayTotals[]> {
  const end = Date.now() + 30_000;
  for (;;) {
    const totals = await Promise.all(relays.map(getRelayTotals));
    if (totals.every(({ holds }) => holds === 0)) return totals;
    if (Date.now() > end) throw new Error("the relays did not settle everything in time");
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** Sums the money of all agents and relays; the debts between relays cancel out. */
export function sumMoney(totals: readonly RelayTotals[]): number {
  return totals.reduce(
    (sum, { balances, holds, fees }) => sum + toMicro(balances) + toMicro(holds) + toMicro(fees),
    0,
  );
}

/** Returns whether each pair of relays agrees on the debt between them. */
export function positionsAgree(totals: readonly RelayTotals[]): boolean {
  return totals.every((own) =>
    totals.every((other) => {
      const mine = own.positions.get(other.relay.info.relay_id) ?? 0;
      const theirs = other.positions.get(own.relay.info.relay_id) ?? 0;
      return toMicro(mine) + toMicro(theirs) === 0;
    }),
  );
}
