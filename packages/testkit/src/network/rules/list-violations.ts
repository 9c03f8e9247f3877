import type { SimRelay, Simulation } from "../relay/sim-relay.ts";
import { checkAccountsMirrored, checkAlarms, checkMoneyConserved } from "./books.ts";
import { checkDefaultsCounted, checkHoldsEnded, checkReservationsEnded } from "./debts.ts";
import { checkPaidSettlementsBooked, checkTasksPaidOnce, checkTaskStates } from "./tasks.ts";

/**
 * Lists the rules that relays violate after they had enough time to finish. The lost state of a restored relay
 * may differ from its peers' if an alarm states the difference; no task is ever paid twice.
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

/**
 * A3: checks that a removed relay is a peer again on both sides once its operator has admitted it.
 */
function* checkPeersAgree(relays: readonly SimRelay[]): Iterable<string> {
  for (const a of relays) {
    for (const { relayId, record } of a.store.peers.values()) {
      const other = relays.find(({ id }) => id === relayId)?.peer(a.id)?.record.state;
      if (record.state !== "active" || other !== "active") {
        yield `${a.name} has the state ${record.state} for a peer that has the state ${other}`;
      }
    }
  }
}
