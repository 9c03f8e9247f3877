import { asMicro } from "@agent/budget";
import { receiptHash } from "@agent/receipts";
import { receiptOf, testAgent } from "../../agents.ts";
import { openOwn } from "../relay/forwarding.ts";
import { acceptReceipt } from "../relay/local-tasks.ts";
import type { SimRelay, World } from "../relay/sim-relay.ts";
import { MINUTE } from "./weather.ts";
import { type Payer, submitLocal } from "./workload.ts";

/** A task that is to end by a receipt of its delegator's making. */
interface Victim {
  readonly taskId: string;
  readonly agentId: string;
  readonly prompt: string;
  readonly submittedAt: number;
}

/**
 * A delegator makes up receipts for tasks that others work on, under a key of its own that some relays
 * have registered for the worker's id. It delivers them alone, or nested in one of a free task.
 */
export function startForger(world: World, payers: readonly Payer[], forMs: number): void {
  const { queue, random } = world;
  if (random.next() < 0.5) return;
  for (let i = 6 + random.below(20); i > 0; i -= 1) {
    queue.after(random.below(forMs), () => forge(world, random.pick(payers as [Payer])));
  }
}

function forge(world: World, { relay, agent }: Payer): void {
  const { random, truth } = world;
  if (random.next() < 0.3) {
    submitLocal(
      world,
      relay,
      agent.agentId,
      random.pick([...relay.workers.keys()] as [string]),
      MINUTE,
    );
  }
  const victims = victimsOf(relay, agent.agentId);
  if (!relay.isWorking || victims.length === 0) return;
  const victim = random.pick(victims as [Victim]);
  const maker = testAgent({ now: () => relay.now, randomBytes: random.randomBytes });
  const forger = { ...maker, agentId: victim.agentId };
  const isNamesake = random.next() < 0.5 && !relay.keys.has(victim.agentId);
  if (isNamesake) relay.keys.set(victim.agentId, forger.publicKey);
  const forged = receiptOf(
    forger,
    { task_id: victim.taskId, prompt: victim.prompt, submitted_at: victim.submittedAt },
    { status: random.pick(["completed", "failed"]) },
  );
  truth.forged.add(receiptHash(forged));
  relay.tally("receipt forged");
  if (random.next() < 0.3) return relay.note(`is told ${acceptReceipt(relay, forged).code}`);
  const order = { payerId: agent.agentId, agentId: agent.agentId, price: asMicro(0), peerId: null };
  const free = openOwn(relay, { ...order, ttlMs: 3 * MINUTE });
  if (free === null) return;
  const { taskId: task_id, submittedAt: submitted_at, payload } = free;
  const around = { task_id, submitted_at, prompt: payload.prompt };
  acceptReceipt(relay, receiptOf(agent, around, { delegation_receipts: [forged] }));
}

/** The payer's own tasks that are open, and those that a peer sent for an agent further on. */
function victimsOf(relay: SimRelay, payerId: string): Victim[] {
  const own = [...relay.store.own.values()]
    .filter((task) => task.payerId === payerId && task.state === "open")
    .filter(({ peerId, price }) => peerId !== null || price > 0);
  const relayed = [...relay.store.inbound.values()]
    .filter(({ task }) => task.state === "running")
    .map(({ task, payload, submittedAt }) => ({ ...task, payload, submittedAt }));
  return [...own, ...relayed].map(({ taskId, agentId, payload, submittedAt }) => {
    return { taskId, agentId, prompt: payload.prompt, submittedAt };
  });
}
