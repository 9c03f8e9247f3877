import { accountOf } from "@agent/budget";
import type { SimRelay } from "../relay/sim-relay.ts";
import type { GroundTruth } from "../ground-truth.ts";
import { sumHeldForOperator } from "./debts.ts";

/** What agents and relays own is what was deposited; on each relay, all accounts sum to zero. */
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
  // A relay that lost movements knows less than its peers; by how much, their alarms say.
  if (truth.restored.size > 0) return;
  // Payments outside move what relays owe each other, never what agents have.
  if (owned !== deposited) yield `agents and fees have ${owned} of ${deposited} deposited`;
}

/** A8: two relays keep the same of what is between them, or an alarm says by how much they differ. */
export function* checkAccountsMirrored(
  relays: readonly SimRelay[],
  truth: GroundTruth,
): Iterable<string> {
  for (const [a, b] of listPairs(relays)) {
    const ours = a.store.balanceOf(accountOf.peer(b.id));
    const theirs = b.store.balanceOf(accountOf.peer(a.id));
    const difference = ours + theirs;
    if (difference === 0) continue;
    const isReported =
      a.differences.get(b.id) === difference || b.differences.get(a.id) === difference;
    const isHeld = sumHeldForOperator(a, b.id, truth) + sumHeldForOperator(b, a.id, truth) > 0;
    if (!truth.mayDiffer(a.id, b.id, a.world.queue.now) || !(isReported || isHeld)) {
      yield `${a.name} and ${b.name} keep ${ours} and ${theirs}, and no alarm says so`;
    }
  }
}

/** A8: an alarm ends when the books agree again. */
export function* checkAlarms(relays: readonly SimRelay[]): Iterable<string> {
  for (const [a, b] of listPairs(relays)) {
    const ours = a.store.balanceOf(accountOf.peer(b.id));
    const theirs = b.store.balanceOf(accountOf.peer(a.id));
    const isReported = a.differences.has(b.id) || b.differences.has(a.id);
    if (ours + theirs === 0 && isReported) yield `${a.name} and ${b.name} agree under an alarm`;
  }
}

function listPairs(relays: readonly SimRelay[]): [SimRelay, SimRelay][] {
  return relays.flatMap((a, i) => relays.slice(i + 1).map((b): [SimRelay, SimRelay] => [a, b]));
}
