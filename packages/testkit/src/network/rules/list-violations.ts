import type { SimRelay, Simulation } from "../relay/sim-relay.ts";
import { checkAccountsMirrored, checkAlarms, checkMoneyConserved } from "./books.ts";
import { checkDefaultsCounted, checkHoldsEnded, checkReservationsEnded } from "./debts.ts";
import { checkPaidSettlementsBooked, checkTasksPaidOnce, checkTaskStates } from "./tasks.ts";

/**
 * Every rule that does not hold over relays that had the time to finish, in words. What a restored
 * relay has lost may differ from what its peers know, if an alarm says so; it is never paid twice.
 */
export function listViolations(
  { truth }: Simulation,
  relays: readonly SimRelay[],
  deposited: number,
): string[] {
  return [
    ...checkMoneyConserved(relays, truth, deposited),
    ...checkAccountsMirrored(relays, truth),
    ...checkAlarms(relays),
    ...checkHoldsEnded(relays, truth),
    ...checkReservationsEnded(relays, truth),
    ...checkDefaultsCounted(relays, truth),
    ...checkTasksPaidOnce(relays, truth),
    ...checkTaskStates(relays, truth),
    ...checkPaidSettlementsBooked(relays, truth),
    ...checkPeersAgree(relays),
  ];
}

/** A3: who was removed for a time is a peer again on both sides once its operator has admitted it. */
function* checkPeersAgree(relays: readonly SimRelay[]): Iterable<string> {
  for (const a of relays) {
    for (const { relayId, life } of a.store.peers.values()) {
      const other = relays.find(({ id }) => id === relayId)?.peer(a.id)?.life.state;
      if (life.state !== "active" || other !== "active") {
        yield `${a.name} says ${life.state} of a peer that says ${other}`;
      }
    }
  }
}
