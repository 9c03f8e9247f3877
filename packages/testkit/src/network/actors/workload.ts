import { accountOf } from "@agent/budget";
import { createReceipt, type TestAgent } from "../../agents.ts";
import { sendDiscovery } from "../relay/discovery.ts";
import { createOwnTask, submitTask } from "../relay/forwarding.ts";
import { sendHeartbeats } from "../relay/heartbeats.ts";
import { receiveReceipt } from "../relay/local-tasks.ts";
import { completeWork } from "../relay/results.ts";
import { recordExternalPayment } from "../relay/settlements.ts";
import type { SimRelay, Simulation } from "../relay/sim-relay.ts";
import type { BankPayment } from "../ground-truth.ts";
import { MINUTE_MS } from "./network-faults.ts";

const SECOND_MS = 1_000;
const TASK_COUNT = 40;

/** An agent with money at a relay. */
export interface Payer {
  readonly relay: SimRelay;
  readonly agent: TestAgent;
}

/**
 * Runs heartbeats, queries, tasks and external payments for a time; heartbeats continue for a while afterwards.
 */
export function startWorkload(
  world: Simulation,
  relays: readonly SimRelay[],
  payers: readonly Payer[],
  forMs: number,
): void {
  const { queue, random } = world;
  for (const relay of relays) {
    for (let at = 0; at < forMs + 20 * MINUTE_MS; at += MINUTE_MS) {
      queue.after(at + random.below(SECOND_MS), () => sendHeartbeats(relay));
      if (at % (5 * MINUTE_MS) === 0)
        queue.after(at + random.below(SECOND_MS), () => sendDiscovery(relay));
    }
  }
  const workers = [...new Set(relays.flatMap(({ workers: own }) => [...own.keys()]))];
  for (let i = 0; i < TASK_COUNT; i += 1) {
    queue.after(30 * SECOND_MS + random.below(forMs), () => {
      const { relay, agent } = random.pick(payers as [Payer]);
      const target = random.pick(workers as [string]);
      const ttlMs = (3 + random.below(13)) * MINUTE_MS;
      if (relay.workers.has(target)) submitLocal(world, relay, agent.agentId, target, ttlMs);
      else submitTask(relay, agent.agentId, target, ttlMs);
    });
  }
  for (let i = random.below(4); i > 0; i -= 1) {
    queue.after(random.below(forMs), () => payExternally(world, relays));
  }
}

/** Executes a task for some time; the agent then delivers its receipt once its relay accepts requests. */
export function executeTask({ queue, random }: Simulation, relay: SimRelay, taskId: string): void {
  const row = relay.store.inbound.get(taskId);
  const worker = row && relay.workers.get(row.task.agentId);
  if (!row || !worker) return;
  const ms = SECOND_MS + random.below(2 * MINUTE_MS);
  const status = random.next() < 0.8 ? "completed" : random.pick(["failed", "denied"] as const);
  const deliver = (): void => {
    if (!relay.isWorking) return queue.after(20 * SECOND_MS, deliver);
    const { submittedAt: submitted_at, payload } = row;
    const task = { task_id: taskId, prompt: payload.prompt, submitted_at };
    const completed_at = submitted_at + ms;
    completeWork(relay, taskId, createReceipt(worker.agent, task, { status, completed_at }));
  };
  queue.after(ms, deliver);
}

/** Submits a task of one agent to another agent of the same relay. */
export function submitLocal(
  { queue, random }: Simulation,
  relay: SimRelay,
  payerId: string,
  agentId: string,
  ttlMs: number,
): void {
  const worker = relay.workers.get(agentId);
  if (!relay.isWorking || worker === undefined) return;
  const { agent, price } = worker;
  const own = createOwnTask(relay, { payerId, agentId, price, peerId: null, ttlMs });
  if (own === null) return;
  const { taskId: task_id, submittedAt: submitted_at, payload } = own;
  const receipt = createReceipt(agent, { task_id, prompt: payload.prompt, submitted_at });
  const deliver = (): void => {
    if (!relay.isWorking) return queue.after(20 * SECOND_MS, deliver);
    relay.count(`receipt ${receiveReceipt(relay, receipt).status}`);
    relay.tick();
  };
  queue.after(SECOND_MS + random.below(2 * MINUTE_MS), deliver);
  relay.tick();
}

/** Pays a relay's debt to another one; both record the payment, the receiver later. */
function payExternally({ queue, random, truth }: Simulation, relays: readonly SimRelay[]): void {
  const debts = relays.flatMap((relay) =>
    [...relay.store.peers.keys()]
      .map((peerId) => ({ relay, peerId, owed: relay.store.balanceOf(accountOf.peer(peerId)) }))
      .filter(({ owed }) => owed > 0),
  );
  if (debts.length === 0) return;
  const { relay, peerId, owed } = random.pick(debts as [(typeof debts)[number]]);
  const payment: BankPayment = {
    debtorId: relay.id,
    creditorId: peerId,
    amount: owed,
    reference: relay.newId(),
    recordedAt: null,
  };
  if (!recordExternalPayment(relay, peerId, { ...payment, direction: "paid" })) return;
  truth.payments.push(payment);
  const creditor = relays.find(({ id }) => id === peerId);
  const record = (): void => {
    if (creditor === undefined) return;
    const isRecorded = recordExternalPayment(creditor, relay.id, {
      ...payment,
      direction: "received",
    });
    if (isRecorded) payment.recordedAt = queue.now;
    else queue.after(MINUTE_MS, record);
  };
  queue.after(random.below(5 * MINUTE_MS), record);
}
