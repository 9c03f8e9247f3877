import { accountOf } from "@agent/budget";
import { receiptOf, type TestAgent } from "../../agents.ts";
import { discover } from "../relay/discovering.ts";
import { openOwn, submit } from "../relay/forwarding.ts";
import { beat } from "../relay/heartbeats.ts";
import { acceptReceipt } from "../relay/local-tasks.ts";
import { finishWork } from "../relay/returning.ts";
import { recordOutside } from "../relay/settling.ts";
import type { SimRelay, World } from "../relay/sim-relay.ts";
import type { BankPayment } from "../truth.ts";
import { MINUTE } from "./weather.ts";

const SECOND = 1_000;
const TASKS = 40;

/** An agent with money at a relay. */
export interface Payer {
  readonly relay: SimRelay;
  readonly agent: TestAgent;
}

/** Heartbeats, queries, tasks and payments outside for a time; heartbeats go on a while after it. */
export function startWork(
  world: World,
  relays: readonly SimRelay[],
  payers: readonly Payer[],
  forMs: number,
): void {
  const { queue, random } = world;
  for (const relay of relays) {
    for (let at = 0; at < forMs + 20 * MINUTE; at += MINUTE) {
      queue.after(at + random.below(SECOND), () => beat(relay));
      if (at % (5 * MINUTE) === 0) queue.after(at + random.below(SECOND), () => discover(relay));
    }
  }
  const workers = [...new Set(relays.flatMap(({ workers: own }) => [...own.keys()]))];
  for (let i = 0; i < TASKS; i += 1) {
    queue.after(30 * SECOND + random.below(forMs), () => {
      const { relay, agent } = random.pick(payers as [Payer]);
      const target = random.pick(workers as [string]);
      const ttlMs = (3 + random.below(13)) * MINUTE;
      if (relay.workers.has(target)) submitLocal(world, relay, agent.agentId, target, ttlMs);
      else submit(relay, agent.agentId, target, ttlMs);
    });
  }
  for (let i = random.below(4); i > 0; i -= 1) {
    queue.after(random.below(forMs), () => payOutside(world, relays));
  }
}

/** An agent works for a while; it tells its relay until that listens. */
export function work({ queue, random }: World, relay: SimRelay, taskId: string): void {
  const row = relay.store.inbound.get(taskId);
  const worker = row && relay.workers.get(row.task.agentId);
  if (!row || !worker) return;
  const ms = SECOND + random.below(2 * MINUTE);
  const status = random.next() < 0.8 ? "completed" : random.pick(["failed", "denied"] as const);
  const deliver = (): void => {
    if (!relay.isWorking) return queue.after(20 * SECOND, deliver);
    const { submittedAt: submitted_at, payload } = row;
    const task = { task_id: taskId, prompt: payload.prompt, submitted_at };
    const completed_at = submitted_at + ms;
    finishWork(relay, taskId, receiptOf(worker.agent, task, { status, completed_at }));
  };
  queue.after(ms, deliver);
}

/** An agent delegates to another one of the same relay. */
export function submitLocal(
  { queue, random }: World,
  relay: SimRelay,
  payerId: string,
  agentId: string,
  ttlMs: number,
): void {
  const worker = relay.workers.get(agentId);
  if (!relay.isWorking || worker === undefined) return;
  const { agent, price } = worker;
  const own = openOwn(relay, { payerId, agentId, price, peerId: null, ttlMs });
  if (own === null) return;
  const { taskId: task_id, submittedAt: submitted_at, payload } = own;
  const receipt = receiptOf(agent, { task_id, prompt: payload.prompt, submitted_at });
  const deliver = (): void => {
    if (!relay.isWorking) return queue.after(20 * SECOND, deliver);
    relay.tally(`receipt ${acceptReceipt(relay, receipt).status}`);
    relay.tick();
  };
  queue.after(SECOND + random.below(2 * MINUTE), deliver);
  relay.tick();
}

/** One relay pays what it owes to another; both record it, the other one later. */
function payOutside({ queue, random, truth }: World, relays: readonly SimRelay[]): void {
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
  if (!recordOutside(relay, peerId, { ...payment, direction: "paid" })) return;
  truth.payments.push(payment);
  const creditor = relays.find(({ id }) => id === peerId);
  const record = (): void => {
    if (creditor === undefined) return;
    const isRecorded = recordOutside(creditor, relay.id, { ...payment, direction: "received" });
    if (isRecorded) payment.recordedAt = queue.now;
    else queue.after(MINUTE, record);
  };
  queue.after(random.below(5 * MINUTE), record);
}
