import type { SimRelay, World } from "../relay/sim-relay.ts";
import { accountsMirrorEachOther, alarmsAreTrue, moneyIsConserved } from "./books.ts";
import { defaultsAreCounted, holdsHaveEnded, reservationsHaveEnded } from "./debts.ts";
import { paidSettlementsAreBooked, tasksArePaidOnce, tasksHaveOneState } from "./tasks.ts";

/**
 * Every rule that does not hold over relays that had the time to finish, in words. What a restored
 * relay has lost may differ from what its peers know, if an alarm says so; it is never paid twice.
 */
export function brokenRules(
  { truth }: World,
  relays: readonly SimRelay[],
  deposited: number,
): string[] {
  return [
    ...moneyIsConserved(relays, truth, deposited),
    ...accountsMirrorEachOther(relays, truth),
    ...alarmsAreTrue(relays),
    ...holdsHaveEnded(relays, truth),
    ...reservationsHaveEnded(relays, truth),
    ...defaultsAreCounted(relays, truth),
    ...tasksArePaidOnce(relays, truth),
    ...tasksHaveOneState(relays, truth),
    ...paidSettlementsAreBooked(relays, truth),
    ...peersAgree(relays),
  ];
}

/** A3: who was removed for a time is a peer again on both sides once its operator has admitted it. */
function* peersAgree(relays: readonly SimRelay[]): Iterable<string> {
  for (const a of relays) {
    for (const { relayId, life } of a.store.peers.values()) {
      const other = relays.find(({ id }) => id === relayId)?.peer(a.id)?.life.state;
      if (life.state !== "active" || other !== "active") {
        yield `${a.name} says ${life.state} of a peer that says ${other}`;
      }
    }
  }
}
