import { accountOf } from "@agent/budget";
import type { SimRelay } from "../relay/sim-relay.ts";
import type { GroundTruth } from "../ground-truth.ts";
import { sumHeldForOperator } from "./debts.ts";

/**
 * Checks that agents and relays together own the deposited amount, and that each relay's accounts sum to zero.
 */
export function* checkMoneyConserved(
  relays: readonly SimRelay[],
  truth: GroundTruth,
  deposited: number,
): Iterable<string> {
  let owned = 0;
  for (const relay of relays) {
    let sum = 0;
    for (const [account, amount] of relay.store.balances) {
      sum += amount;
      if (account.startsWith("agent:") && amount < 0) {
        yield `${relay.name}: ${account} is below zero`;
      }
      const isOwned = account.startsWith("agent:") || account === "relay:fees";
      if (isOwned) owned += amount;
    }
    if (sum !== 0) yield `${relay.name}: accounts sum to ${sum}`;
  }
  // A restored relay has lost movements; the alarms of its peers state the differences.
  if (truth.restored.size > 0) return;
  // External payments change the debts between relays, never the balances of agents.
  if (owned !== deposited) yield `agents and fees have ${owned} of ${deposited} deposited`;
}

/** A8: checks that the books of two relays agree, or that an alarm states the difference. */
export function* checkAccountsMirrored(
  relays: readonly SimRelay[],
  truth: GroundTruth,
): Iterable<string> {
  for (const [a, b] of listPairs(relays)) {
    const ours = a.store.balanceOf(accountOf.peer(b.id));
    const theirs = b.store.balanceOf(accountOf.peer(a.id));
    const difference = ours + theirs;
    if (difference === 0) continue;
    const isReported = listAlarms(a, b).includes(difference);
    const isHeld = sumHeldForOperator(a, b.id, truth) + sumHeldForOperator(b, a.id, truth) > 0;
    if (!truth.mayDiffer(a.id, b.id, a.world.queue.now) || !(isReported || isHeld)) {
      yield `${a.name} and ${b.name} have ${ours} and ${theirs} without an alarm`;
    }
  }
}

/** A8: checks that an alarm ends when the books agree again. */
export function* checkAlarms(relays: readonly SimRelay[]): Iterable<string> {
  for (const [a, b] of listPairs(relays)) {
    const ours = a.store.balanceOf(accountOf.peer(b.id));
    const theirs = b.store.balanceOf(accountOf.peer(a.id));
    const isReported = listAlarms(a, b).length > 0;
    if (ours + theirs === 0 && isReported)
      yield `${a.name} and ${b.name} agree in spite of an alarm`;
  }
}

/** Lists the differences between two relays that either of them reports. */
function listAlarms(a: SimRelay, b: SimRelay): number[] {
  return [a.differences.get(b.id), b.differences.get(a.id)].flatMap((known) =>
    known?.isConfirmed ? [known.amount] : [],
  );
}

function listPairs(relays: readonly SimRelay[]): [SimRelay, SimRelay][] {
  return relays.flatMap((a, i) => relays.slice(i + 1).map((b): [SimRelay, SimRelay] => [a, b]));
}
