import { type Micro, buildReleasePostings } from "@agent/budget";
import { parseMessage } from "@agent/federation-protocol";
import type { Delivery } from "@agent/federation-protocol/delivery";
import {
  beginAsk,
  beginAttempt,
  createSettlementForward,
  endAsk,
  endAttempt,
  getExposure,
  buildInboundPayment,
  buildInboundForwarding,
  buildInboundRelease,
  checkExternalPayment,
  checkSettlement,
  getNextStep,
  type OutgoingSettlement,
  buildOutboundPayment,
  buildExternalPayment,
  buildForwardedPayment,
  redriveSettlement,
  type ReportedSettlements,
  type SettlementForward,
  SettlementForwardSchema,
} from "@agent/federation-protocol/settlement";
import type { Reply } from "../links.ts";
import { enqueueSettlement } from "./enqueue-settlement.ts";
import { completeRelayedTask } from "./complete-relayed-task.ts";
import { checkFreezeAttempts } from "../rules/step-checks.ts";
import type { SendCounts } from "./relay-store.ts";
import type { SimRelay } from "./sim-relay.ts";

/** Accepts a peer's settlement of a task. */
export function receiveSettlement(relay: SimRelay, from: string, body: SettlementForward): Reply {
  return relay.isLivePeer(from) ? recordSettlement(relay, from, body) : { status: 403 };
}

/**
 * Books a settlement, which pays the agent or the next relay. A settlement in the answer to a result that was
 * sent at `askedAt` is also accepted if the peer has been removed since then.
 */
export function recordSettlement(
  relay: SimRelay,
  from: string,
  body: SettlementForward,
  askedAt?: number,
): Reply {
  const read = parseMessage(SettlementForwardSchema, body);
  if (!read.ok) return relay.refuse(read);
  const message = read.message;
  const taskId = message.task_id;
  const row = relay.store.inbound.get(taskId);
  const known = row?.task ?? null;
  const isLost = relay.world.faults.losesSettlements && known;
  const checked = checkSettlement(isLost ? { ...known, settlement: null } : known, message, {
    from,
    now: relay.now,
    askedAt: relay.world.faults.expiresSlowAnswers ? undefined : askedAt,
    lifetimeMs: relay.world.schedule.lifetimeMs,
    feeRate: relay.feeRate,
    clearing: relay.clearingLine(from),
  });
  if (!checked.ok) {
    if (checked.code === "clearing.limit_exceeded") relay.world.truth.shortOfCredit.add(taskId);
    return relay.refuse(checked);
  }
  if (row === undefined || checked.repeated) {
    relay.count("settlement repeated");
    return { status: 200, body: checked.answer };
  }
  const { task, booked: terms, held } = checked;
  const isOurs = relay.workers.has(task.agentId);
  // A settled default counts as owed already.
  const owed = getExposure(relay.clearingLine(from));
  relay.store.inbound.set(taskId, { ...row, task, booked: { ...message, status: "settled" } });
  relay.post(
    taskId,
    (isOurs ? buildInboundPayment : buildInboundForwarding)({ ...task, terms, held }),
    owed,
  );
  completeRelayedTask(relay, taskId);
  if (!isOurs) enqueueSettlement(relay, taskId, false);
  return { status: 200, body: checked.answer };
}

/** Lists the booked settlements of a peer. */
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

/** Sends the settlements and queries that are due. */
export function* runSettlingJobs(relay: SimRelay): Iterable<number | null> {
  for (const settlement of relay.store.outbox.values()) {
    const step = getNextStep(settlement, relay.now);
    if (step === "forward") sendSettlement(relay, settlement);
    if (step === "ask") querySettlements(relay, settlement);
    yield relay.store.outbox.get(settlement.taskId)?.dueAt ?? null;
  }
}

/** Restarts all settlements that wait for the operator. */
export function redriveAll(relay: SimRelay): void {
  if (!relay.isWorking) return;
  for (const settlement of relay.store.outbox.values()) {
    relay.store.outbox.set(settlement.taskId, redriveSettlement(settlement, relay.now));
  }
  relay.tick();
}

/** Records an external payment once per reference; returns false if the relay cannot do it now. */
export function recordExternalPayment(
  relay: SimRelay,
  peerId: string,
  payment: {
    readonly direction: "paid" | "received";
    readonly amount: Micro;
    readonly reference: string;
  },
): boolean {
  if (!relay.isWorking || !checkExternalPayment(relay.clearingLine(peerId), payment).ok)
    return false;
  if (relay.store.references.has(payment.reference)) return true;
  relay.store.references.add(payment.reference);
  relay.post(null, buildExternalPayment({ peerId, ...payment }));
  return true;
}

function sendSettlement(relay: SimRelay, settlement: OutgoingSettlement): void {
  const { schedule, faults } = relay.world;
  const begun = beginAttempt(settlement, schedule, relay.now);
  relay.store.outbox.set(settlement.taskId, begun);
  const message = createSettlementForward(begun, { self: relay.id, secretKey: relay.secretKey });
  recordSend(relay, begun, { sent: 1, metFrozen: 0 });
  relay.send(settlement.peerId, "settlement/forward", message, (answered) => {
    const isFrozen = answered.kind === "answered" && answered.code === "server.frozen";
    const delivery: Delivery =
      isFrozen && faults.usesUpFrozenAttempts ? { kind: "answered", status: 500 } : answered;
    if (isFrozen) recordSend(relay, begun, { sent: 0, metFrozen: 1 });
    applyTransition(relay, settlement.taskId, (current) =>
      applyTimeoutFault(
        relay,
        endAttempt(current, delivery, { ...schedule, now: relay.now }),
        delivery,
      ),
    );
  });
}

function recordSend(relay: SimRelay, { taskId }: OutgoingSettlement, more: SendCounts): void {
  const { sent, metFrozen } = relay.store.sendCounts.get(taskId) ?? { sent: 0, metFrozen: 0 };
  const sum = { sent: sent + more.sent, metFrozen: metFrozen + more.metFrozen };
  relay.store.sendCounts.set(taskId, sum);
}

function querySettlements(relay: SimRelay, settlement: OutgoingSettlement): void {
  const { taskId, peerId } = settlement;
  relay.store.outbox.set(taskId, beginAsk(settlement, relay.world.schedule, relay.now));
  relay.send(peerId, "settlements", { task_id: taskId }, (delivery, body) => {
    const isAnswer = delivery.kind === "answered" && delivery.status === 200;
    const list = isAnswer ? (body as ReportedSettlements) : null;
    applyTransition(relay, taskId, (current) =>
      endAsk(current, list, { ...relay.world.schedule, delivery, now: relay.now }),
    );
  });
}

/** Stores a settlement and moves the money once it is decided. */
function applyTransition(
  relay: SimRelay,
  taskId: string,
  decide: (current: OutgoingSettlement) => OutgoingSettlement,
): void {
  const current = relay.store.outbox.get(taskId);
  if (current === undefined) return;
  const next = decide(current);
  relay.store.outbox.set(taskId, next);
  checkFreezeAttempts(relay, next);
  if (next.resolution === current.resolution) return;
  relay.log(`settlement of ${taskId} is ${next.resolution}`);
  relay.count(`settlement ${next.resolution}`);
  const own = relay.store.ownTasks.get(taskId);
  const { terms, peerId } = next;
  if (next.resolution === "paid") {
    const amount = terms.net;
    relay.post(
      taskId,
      own
        ? buildOutboundPayment({ ...own, peerId, terms })
        : buildForwardedPayment({ taskId, peerId, amount }),
    );
  }
  if (next.resolution === "refunded") {
    const inbound = relay.store.inbound.get(taskId);
    if (own) relay.post(taskId, buildReleasePostings({ ...own, amount: own.locked }));
    else if (inbound)
      relay.post(taskId, buildInboundRelease({ ...inbound.task, amount: terms.net }));
  }
}

function applyTimeoutFault(
  relay: SimRelay,
  settlement: OutgoingSettlement,
  delivery: Delivery,
): OutgoingSettlement {
  const isExhausted = settlement.state === "pending" && settlement.phase === "asking";
  const refunds = relay.world.faults.refundsOnTimeout && settlement.refundable;
  if (!refunds || !isExhausted || delivery.kind !== "unknown") return settlement;
  return { ...settlement, state: "failed", resolution: "refunded", dueAt: null };
}
