import { asMicro, releasePostings } from "@agent/budget";
import { clearDefault } from "@agent/federation-protocol";
import { submit } from "../relay/forwarding.ts";
import { openSettlementOf } from "../relay/open-settlement.ts";
import { setCredit } from "../relay/peering.ts";
import type { SimRelay, World } from "../relay/sim-relay.ts";
import { MINUTE } from "./weather.ts";
import type { Payer } from "./workload.ts";

/**
 * A relay takes results and settles none. In some runs it also holds back that it has taken them until
 * the hold has lapsed; in some it settles late after all, in the others its agents keep the money; and
 * in some an operator clears its defaults.
 */
export function startDefaulter(
  world: World,
  relays: readonly SimRelay[],
  payers: readonly Payer[],
  forMs: number,
): void {
  const { queue, random, schedule } = world;
  if (random.next() < 0.5) return;
  const cheat = random.pick(payers as [Payer]);
  const { relay, agent } = cheat;
  const victim = random.pick(relays.filter((other) => other !== relay) as [SimRelay]);
  // Through a relay in the middle, which then owes what it was not paid.
  const others = relays.filter((other) => other !== relay && !relay.peer(other.id));
  const far = others.length > 0 ? others : [victim];
  relay.settlesNothing = true;
  relay.stallsMs = random.next() < 0.5 ? schedule.holdMs + MINUTE : 0;
  queue.after(0, () => setCredit(victim, relay.id, asMicro(3e6)));
  for (let i = 0; i < 15; i += 1) {
    queue.after(random.below(forMs), () => {
      const { workers } = random.next() < 0.5 ? victim : random.pick(far as [SimRelay]);
      const agentId = random.pick([...workers.keys()] as [string]);
      if (!relay.workers.has(agentId)) submit(relay, agent.agentId, agentId, 10 * MINUTE);
    });
  }
  if (random.next() < 0.3) queue.after(random.below(forMs), () => clearDefaults(victim, relay.id));
  const isLate = random.next() < 0.5;
  const endsAt = isLate ? random.below(forMs + 60 * MINUTE) : forMs + 120 * MINUTE;
  const end = (): void => {
    if (!relay.isWorking) return queue.after(MINUTE, end);
    relay.stallsMs = 0;
    relay.settlesNothing = false;
    if (isLate) settleLate(relay);
    else refund(relay);
  };
  queue.after(endsAt, end);
}

function settleLate(relay: SimRelay): void {
  for (const taskId of relay.store.withheld) {
    relay.tally("settled late");
    openSettlementOf(relay, taskId, true);
  }
  relay.tick();
}

function refund(relay: SimRelay): void {
  for (const taskId of relay.store.withheld) {
    const own = relay.store.own.get(taskId);
    if (own) relay.post(taskId, releasePostings({ ...own, amount: own.locked }));
  }
}

/** The operator no longer counts as owed what the peer did not settle. */
function clearDefaults(relay: SimRelay, peerId: string): void {
  for (const row of relay.store.inbound.values()) {
    const { task } = row;
    if (task.peerId !== peerId || task.hold !== "defaulted") continue;
    relay.world.truth.cleared.add(task.taskId);
    relay.tally("default cleared");
    relay.store.inbound.set(task.taskId, { ...row, task: clearDefault(task) });
  }
}
