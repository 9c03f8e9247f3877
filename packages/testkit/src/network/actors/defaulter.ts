import { asMicro, buildReleasePostings } from "@agent/budget";
import { clearDefault } from "@agent/federation-protocol/forwarding";
import { submitTask } from "../relay/forwarding.ts";
import { enqueueSettlement } from "../relay/enqueue-settlement.ts";
import { setCredit } from "../relay/peering.ts";
import type { SimRelay, Simulation } from "../relay/sim-relay.ts";
import { MINUTE_MS } from "./network-faults.ts";
import type { Payer } from "./workload.ts";

/**
 * Makes a relay accept results without settling them. In some runs it also withholds its acceptance until the
 * hold has expired. In some it settles late, in others its agents keep the money, and in some an operator
 * clears its defaults.
 */
export function startDefaulter(
  world: Simulation,
  relays: readonly SimRelay[],
  payers: readonly Payer[],
  forMs: number,
): void {
  const { queue, random, schedule } = world;
  if (random.next() < 0.5) return;
  const defaulter = random.pick(payers as [Payer]);
  const { relay, agent } = defaulter;
  const victim = random.pick(relays.filter((other) => other !== relay) as [SimRelay]);
  // Its tasks pass through an intermediate relay, which then owes an amount that it did not receive.
  const others = relays.filter((other) => other !== relay && !relay.peer(other.id));
  const targets = others.length > 0 ? others : [victim];
  relay.withholdsSettlements = true;
  relay.stallMs = random.next() < 0.5 ? schedule.holdMs + MINUTE_MS : 0;
  queue.after(0, () => setCredit(victim, relay.id, asMicro(3e6)));
  for (let i = 0; i < 15; i += 1) {
    queue.after(random.below(forMs), () => {
      const { workers } = random.next() < 0.5 ? victim : random.pick(targets as [SimRelay]);
      const agentId = random.pick([...workers.keys()] as [string]);
      if (!relay.workers.has(agentId)) submitTask(relay, agent.agentId, agentId, 10 * MINUTE_MS);
    });
  }
  if (random.next() < 0.3) queue.after(random.below(forMs), () => clearDefaults(victim, relay.id));
  const isLate = random.next() < 0.5;
  const endsAt = isLate ? random.below(forMs + 60 * MINUTE_MS) : forMs + 120 * MINUTE_MS;
  const end = (): void => {
    if (!relay.isWorking) return queue.after(MINUTE_MS, end);
    relay.stallMs = 0;
    relay.withholdsSettlements = false;
    if (isLate) settleWithheld(relay);
    else refundWithheld(relay);
  };
  queue.after(endsAt, end);
}

function settleWithheld(relay: SimRelay): void {
  for (const taskId of relay.store.withheld) {
    relay.count("settled late");
    enqueueSettlement(relay, taskId, true);
  }
  relay.tick();
}

function refundWithheld(relay: SimRelay): void {
  for (const taskId of relay.store.withheld) {
    const own = relay.store.ownTasks.get(taskId);
    if (own) relay.post(taskId, buildReleasePostings({ ...own, amount: own.locked }));
  }
}

/** Clears the peer's defaults by a decision of the relay's operator. */
function clearDefaults(relay: SimRelay, peerId: string): void {
  for (const row of relay.store.inbound.values()) {
    const { task } = row;
    if (task.peerId !== peerId || task.hold !== "defaulted") continue;
    relay.world.truth.cleared.add(task.taskId);
    relay.count("default cleared");
    relay.store.inbound.set(task.taskId, { ...row, task: clearDefault(task) });
  }
}
