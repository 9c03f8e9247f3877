import { removePeer, setCredit, shakeHands } from "../relay/peering.ts";
import type { SimRelay, World } from "../relay/sim-relay.ts";
import { MINUTE } from "./weather.ts";

/**
 * An operator removes a peer, which proposes again and again. When the weather has cleared, or before,
 * the operator admits it, and gives it credit minutes later.
 */
export function startRemovals(
  world: World,
  pairs: readonly (readonly [SimRelay, SimRelay])[],
  forMs: number,
): void {
  const { queue, random } = world;
  if (random.next() < 0.6) return;
  for (let i = 1 + random.below(2); i > 0; i -= 1) {
    const [one, other] = random.pick(pairs as [[SimRelay, SimRelay]]);
    const [relay, peer] = random.next() < 0.5 ? [one, other] : [other, one];
    const at = random.below(forMs);
    const staysMs = random.below(forMs - at) + 1;
    queue.after(at, () => removeFor(world, relay, peer, staysMs));
  }
}

function removeFor(world: World, relay: SimRelay, peer: SimRelay, staysMs: number): void {
  const { queue } = world;
  const known = relay.peer(peer.id);
  if (!relay.isWorking || known === undefined || known.limit === 0) return;
  relay.note(`its operator removes ${peer.name}`);
  relay.tally("peer removed by operator");
  removePeer(relay, peer.id);
  for (let at = MINUTE; at < staysMs; at += 2 * MINUTE) {
    queue.after(at, () => shakeHands(peer, relay.id));
  }
  const admit = (): void => {
    shakeHands(relay, peer.id);
    if (!relay.isLivePeer(peer.id)) return queue.after(2 * MINUTE, admit);
    relay.tally("peer admitted again");
    queue.after(3 * MINUTE, () => setCredit(relay, peer.id, known.limit));
  };
  queue.after(staysMs, admit);
}
