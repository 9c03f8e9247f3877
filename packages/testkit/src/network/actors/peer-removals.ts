import { removePeer, setCredit, startHandshake } from "../relay/peering.ts";
import type { SimRelay, Simulation } from "../relay/sim-relay.ts";
import { MINUTE_MS } from "./network-faults.ts";

/**
 * Lets an operator remove a peer, which repeatedly proposes to peer again. During the network faults or after
 * them, the operator admits it again, and gives it credit minutes later.
 */
export function startRemovals(
  world: Simulation,
  pairs: readonly (readonly [SimRelay, SimRelay])[],
  forMs: number,
): void {
  const { queue, random } = world;
  if (random.next() < 0.6) return;
  for (let i = 1 + random.below(2); i > 0; i -= 1) {
    const [one, other] = random.pick(pairs as [[SimRelay, SimRelay]]);
    const [relay, peer] = random.next() < 0.5 ? [one, other] : [other, one];
    const at = random.below(forMs);
    const removedMs = random.below(forMs - at) + 1;
    queue.after(at, () => removeTemporarily(world, relay, peer, removedMs));
  }
}

function removeTemporarily(
  world: Simulation,
  relay: SimRelay,
  peer: SimRelay,
  removedMs: number,
): void {
  const { queue } = world;
  const known = relay.peer(peer.id);
  if (!relay.isWorking || known === undefined || known.limit === 0) return;
  relay.log(`its operator removes ${peer.name}`);
  relay.count("peer removed by operator");
  removePeer(relay, peer.id);
  for (let at = MINUTE_MS; at < removedMs; at += 2 * MINUTE_MS) {
    queue.after(at, () => startHandshake(peer, relay.id));
  }
  const admit = (): void => {
    startHandshake(relay, peer.id);
    if (!relay.isLivePeer(peer.id)) return queue.after(2 * MINUTE_MS, admit);
    relay.count("peer admitted again");
    queue.after(3 * MINUTE_MS, () => setCredit(relay, peer.id, known.limit));
  };
  queue.after(removedMs, admit);
}
