import { type Micro, releasePostings } from "@agent/budget";
import {
  beginAsk,
  beginAttempt,
  createSettlement,
  type Delivery,
  endAsk,
  endAttempt,
  exposureOf,
  inboundPaid,
  inboundPassed,
  inboundRelease,
  judgeOutsidePayment,
  judgeSettlement,
  nextStep,
  type OutgoingSettlement,
  outboundPaid,
  outsidePayment,
  passedOn,
  readMessage,
  redrive,
  type ReportedSettlements,
  type SettlementForward,
  SettlementForwardSchema,
} from "@agent/federation-protocol";
import type { Reply } from "../links.ts";
import { openSettlementOf } from "./open-settlement.ts";
import { conclude } from "./conclude.ts";
import { freezesUseUpNothing } from "../rules/on-the-way.ts";
import type { Sendings } from "./relay-store.ts";
import type { SimRelay } from "./sim-relay.ts";

/** A peer settles a task. */
export function takeSettlement(relay: SimRelay, from: string, body: SettlementForward): Reply {
  return relay.isLivePeer(from) ? bookSettlement(relay, from, body) : { status: 403 };
}

/**
 * Books a settlement: pays the agent, or passes the payment on. One that comes in the answer to a
 * result that was sent at `askedAt` counts from a peer that was removed meanwhile, too.
 */
export function bookSettlement(
  relay: SimRelay,
  from: string,
  body: SettlementForward,
  askedAt?: number,
): Reply {
  const read = readMessage(SettlementForwardSchema, body);
  if (!read.ok) return relay.refuse(read);
  const message = read.message;
  const taskId = message.task_id;
  const row = relay.store.inbound.get(taskId);
  const known = row?.task ?? null;
  const forgotten = relay.world.faults.forgetsSettlements && known;
  const judged = judgeSettlement(forgotten ? { ...known, settlement: null } : known, message, {
    from,
    now: relay.now,
    askedAt: relay.world.faults.expiresSlowAnswers ? undefined : askedAt,
    lifetimeMs: relay.world.schedule.lifetimeMs,
    feeRate: relay.feeRate,
    clearing: relay.lineWith(from),
  });
  if (!judged.ok) {
    if (judged.code === "clearing.limit_exceeded") relay.world.truth.shortOfCredit.add(taskId);
    return relay.refuse(judged);
  }
  if (row === undefined || judged.repeated) {
    relay.tally("settlement repeated");
    return { status: 200, body: judged.answer };
  }
  const { task, booked: terms, held } = judged;
  const isOurs = relay.workers.has(task.agentId);
  // A default that is settled is owed already.
  const owed = exposureOf(relay.lineWith(from));
  relay.store.inbound.set(taskId, { ...row, task, booked: { ...message, status: "settled" } });
  relay.post(taskId, (isOurs ? inboundPaid : inboundPassed)({ ...task, terms, held }), owed);
  conclude(relay, taskId);
  if (!isOurs) openSettlementOf(relay, taskId, false);
  return { status: 200, body: judged.answer };
}

/** Tells a peer which of its settlements were booked. */
export function listSettlements(
  relay: SimRelay,
  from: string,
  { task_id }: { readonly task_id: string },
): Reply {
  if (!relay.isLivePeer(from)) return { status: 403 };
  const row = relay.store.inbound.get(task_id);
  const booked = row?.task.peerId === from ? row.booked : null;
  return { status: 200, body: { settlements: booked ? [booked] : [] } };
}

/** Sends and asks what is due. */
export function* settlingJobs(relay: SimRelay): Iterable<number | null> {
  for (const settlement of relay.store.outbox.values()) {
    const step = nextStep(settlement, relay.now);
    if (step === "forward") attempt(relay, settlement);
    if (step === "ask") question(relay, settlement);
    yield relay.store.outbox.get(settlement.taskId)?.dueAt ?? null;
  }
}

/** The operator starts everything anew that waits for a decision. */
export function redriveAll(relay: SimRelay): void {
  if (!relay.isWorking) return;
  for (const settlement of relay.store.outbox.values()) {
    relay.store.outbox.set(settlement.taskId, redrive(settlement, relay.now));
  }
  relay.tick();
}

/** Records a payment outside, once per reference; false where the relay cannot do it now. */
export function recordOutside(
  relay: SimRelay,
  peerId: string,
  payment: {
    readonly direction: "paid" | "received";
    readonly amount: Micro;
    readonly reference: string;
  },
): boolean {
  if (!relay.isWorking || !judgeOutsidePayment(relay.lineWith(peerId), payment).ok) return false;
  if (relay.store.references.has(payment.reference)) return true;
  relay.store.references.add(payment.reference);
  relay.post(null, outsidePayment({ peerId, ...payment }));
  return true;
}

function attempt(relay: SimRelay, settlement: OutgoingSettlement): void {
  const { schedule, faults } = relay.world;
  const begun = beginAttempt(settlement, schedule, relay.now);
  relay.store.outbox.set(settlement.taskId, begun);
  const message = createSettlement(begun, { self: relay.id, secretKey: relay.secretKey });
  countSending(relay, begun, { sent: 1, metFrozen: 0 });
  relay.send(settlement.peerId, "settlement/forward", message, (answered) => {
    const { settleDownMs } = schedule;
    const isFrozen = answered.kind === "answered" && answered.code === "server.frozen";
    const delivery: Delivery =
      isFrozen && faults.usesUpFrozenAttempts ? { kind: "answered", status: 503 } : answered;
    if (isFrozen) countSending(relay, begun, { sent: 0, metFrozen: 1 });
    change(relay, settlement.taskId, (current) =>
      afterAttempt(
        relay,
        endAttempt(current, delivery, { settleDownMs, now: relay.now }),
        delivery,
      ),
    );
  });
}

function countSending(relay: SimRelay, { taskId }: OutgoingSettlement, more: Sendings): void {
  const { sent, metFrozen } = relay.store.sendings.get(taskId) ?? { sent: 0, metFrozen: 0 };
  const sum = { sent: sent + more.sent, metFrozen: metFrozen + more.metFrozen };
  relay.store.sendings.set(taskId, sum);
}

function question(relay: SimRelay, settlement: OutgoingSettlement): void {
  const { taskId, peerId } = settlement;
  relay.store.outbox.set(taskId, beginAsk(settlement, relay.world.schedule, relay.now));
  relay.send(peerId, "settlements", { task_id: taskId }, (delivery, body) => {
    const isAnswer = delivery.kind === "answered" && delivery.status === 200;
    const list = isAnswer ? (body as ReportedSettlements) : null;
    change(relay, taskId, (current) => endAsk(current, list, relay.now));
  });
}

/** Keeps a settlement as it is from now on, and moves the money when it is decided. */
function change(
  relay: SimRelay,
  taskId: string,
  decide: (current: OutgoingSettlement) => OutgoingSettlement,
): void {
  const current = relay.store.outbox.get(taskId);
  if (current === undefined) return;
  const next = decide(current);
  relay.store.outbox.set(taskId, next);
  freezesUseUpNothing(relay, next);
  if (next.resolution === current.resolution) return;
  relay.note(`settlement of ${taskId} is ${next.resolution}`);
  relay.tally(`settlement ${next.resolution}`);
  const own = relay.store.own.get(taskId);
  const { terms, peerId } = next;
  if (next.resolution === "paid") {
    const amount = terms.net;
    relay.post(
      taskId,
      own ? outboundPaid({ ...own, peerId, terms }) : passedOn({ taskId, peerId, amount }),
    );
  }
  if (next.resolution === "refunded") {
    const inbound = relay.store.inbound.get(taskId);
    if (own) relay.post(taskId, releasePostings({ ...own, amount: own.locked }));
    else if (inbound) relay.post(taskId, inboundRelease({ ...inbound.task, amount: terms.net }));
  }
}

function afterAttempt(
  relay: SimRelay,
  settlement: OutgoingSettlement,
  delivery: Delivery,
): OutgoingSettlement {
  const isExhausted = settlement.state === "pending" && settlement.phase === "asking";
  const refunds = relay.world.faults.refundsOnTimeout && settlement.refundable;
  if (!refunds || !isExhausted || delivery.kind !== "unknown") return settlement;
  return { ...settlement, state: "failed", resolution: "refunded", dueAt: null };
}
