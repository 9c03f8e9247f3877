import type { SimRelay } from "../relay/sim-relay.ts";
import type { GroundTruth } from "../ground-truth.ts";

/** A8: sums the amounts that need an operator's decision because a restore lost the task's state. */
export function sumHeldForOperator(relay: SimRelay, peerId: string, { lost }: GroundTruth): number {
  let sum = 0;
  for (const { taskId, peerId: to, resolution, terms } of relay.store.outbox.values()) {
    if (to === peerId && resolution === "held" && lost.has(taskId)) sum += terms.net;
  }
  return sum;
}

/** Checks that no hold remains and that every settlement is decided. */
export function* checkHoldsEnded(
  relays: readonly SimRelay[],
  { lost }: GroundTruth,
): Iterable<string> {
  for (const relay of relays) {
    const held = new Set<string>();
    for (const settlement of relay.store.outbox.values()) {
      const { taskId, resolution } = settlement;
      if (resolution === "held" && lost.has(taskId)) held.add(`held:${taskId}`);
      else if (resolution !== "paid" && resolution !== "refunded") {
        yield `${relay.name}: settlement of ${taskId} is ${resolution ?? "pending"}`;
      }
    }
    for (const [account, amount] of relay.store.balances) {
      if (account.startsWith("held:") && amount !== 0 && !held.has(account)) {
        yield `${relay.name}: ${account} still has ${amount}`;
      }
    }
  }
}

/** A2: checks that no reservation remains, because it would block honest tasks. */
export function* checkReservationsEnded(
  relays: readonly SimRelay[],
  truth: GroundTruth,
): Iterable<string> {
  for (const relay of relays) {
    for (const { relayId } of relay.store.peers.values()) {
      const { payable } = relay.clearingLine(relayId);
      const held = sumHeldForOperator(relay, relayId, truth);
      if (payable !== held) {
        yield `${relay.name} still reserves ${payable} for ${relay.nameOf(relayId)}`;
      }
    }
  }
}

/**
 * A9: checks that accepted and unsettled results count as owed until the peer settles or the
 * operator clears them.
 */
export function* checkDefaultsCounted(
  relays: readonly SimRelay[],
  { lost, cleared }: GroundTruth,
): Iterable<string> {
  for (const relay of relays) {
    for (const { task } of relay.store.inbound.values()) {
      const { taskId, state, hold, settlement, amount } = task;
      const isUnpaid = state === "completed" && settlement === null && amount > 0;
      if (!isUnpaid || lost.has(taskId) || cleared.has(taskId)) continue;
      if (hold !== "defaulted") yield `${relay.name}: unpaid ${taskId} is ${hold}, no default`;
    }
  }
}
