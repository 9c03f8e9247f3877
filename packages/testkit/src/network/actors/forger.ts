import { asMicro } from "@agent/budget";
import { hashReceipt } from "@agent/receipts";
import { createReceipt, createTestAgent } from "../../agents.ts";
import { createOwnTask } from "../relay/forwarding.ts";
import { receiveReceipt } from "../relay/local-tasks.ts";
import type { SimRelay, Simulation } from "../relay/sim-relay.ts";
import { MINUTE_MS } from "./network-faults.ts";
import { type Payer, submitLocal } from "./workload.ts";

/** A task for which its delegator forges a receipt. */
interface ForgeryTarget {
  readonly taskId: string;
  readonly agentId: string;
  readonly prompt: string;
  readonly submittedAt: number;
}

/**
 * Lets a delegator forge receipts for tasks of other agents, with its own key that some relays have registered
 * under the worker's id. It delivers them alone or inside the receipt of a free task.
 */
export function startForger(world: Simulation, payers: readonly Payer[], forMs: number): void {
  const { queue, random } = world;
  if (random.next() < 0.5) return;
  for (let i = 6 + random.below(20); i > 0; i -= 1) {
    queue.after(random.below(forMs), () => forgeReceipt(world, random.pick(payers as [Payer])));
  }
}

function forgeReceipt(world: Simulation, { relay, agent }: Payer): void {
  const { random, truth } = world;
  if (random.next() < 0.3) {
    submitLocal(
      world,
      relay,
      agent.agentId,
      random.pick([...relay.workers.keys()] as [string]),
      MINUTE_MS,
    );
  }
  const victims = listForgeryTargets(relay, agent.agentId);
  if (!relay.isWorking || victims.length === 0) return;
  const victim = random.pick(victims as [ForgeryTarget]);
  const maker = createTestAgent({ now: () => relay.now, randomBytes: random.randomBytes });
  const forger = { ...maker, agentId: victim.agentId };
  const isNamesake = random.next() < 0.5 && !relay.keys.has(victim.agentId);
  if (isNamesake) relay.keys.set(victim.agentId, forger.publicKey);
  const forged = createReceipt(
    forger,
    { task_id: victim.taskId, prompt: victim.prompt, submitted_at: victim.submittedAt },
    { status: random.pick(["completed", "failed"]) },
  );
  truth.forged.add(hashReceipt(forged));
  relay.count("receipt forged");
  if (random.next() < 0.3)
    return relay.log(`gets the answer ${receiveReceipt(relay, forged).code}`);
  const order = { payerId: agent.agentId, agentId: agent.agentId, price: asMicro(0), peerId: null };
  const free = createOwnTask(relay, { ...order, ttlMs: 3 * MINUTE_MS });
  if (free === null) return;
  const { taskId: task_id, submittedAt: submitted_at, payload } = free;
  const around = { task_id, submitted_at, prompt: payload.prompt };
  receiveReceipt(relay, createReceipt(agent, around, { delegation_receipts: [forged] }));
}

/** Lists the payer's own open tasks and the tasks that a peer sent for an agent of another relay. */
function listForgeryTargets(relay: SimRelay, payerId: string): ForgeryTarget[] {
  const own = [...relay.store.ownTasks.values()]
    .filter((task) => task.payerId === payerId && task.state === "open")
    .filter(({ peerId, price }) => peerId !== null || price > 0);
  const relayed = [...relay.store.inbound.values()]
    .filter(({ task }) => task.state === "running")
    .map(({ task, payload, submittedAt }) => ({ ...task, payload, submittedAt }));
  return [...own, ...relayed].map(({ taskId, agentId, payload, submittedAt }) => {
    return { taskId, agentId, prompt: payload.prompt, submittedAt };
  });
}
