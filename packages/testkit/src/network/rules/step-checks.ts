import type { Micro } from "@agent/budget";
import type { OutgoingSettlement } from "@agent/federation-protocol/settlement";
import type { Inbound, OwnTask } from "../relay/relay-store.ts";
import type { SimRelay } from "../relay/sim-relay.ts";

/** Work that was due is done at the latest so long after a relay could do it. */
const MAX_LATENESS_MS = 60_000;

/**
 * A5: a task ends neither before its time nor much later, whatever the wall clock shows. `own` is one
 * that the relay expires just now.
 */
export function checkExpiryTime(relay: SimRelay, { taskId, endsAt }: OwnTask): void {
  const { now } = relay.world.queue;
  if (now < endsAt) relay.reportViolation(`${taskId} expired ${endsAt - now} ms early`);
  const late = now - Math.max(endsAt, relay.workingSince);
  if (late > MAX_LATENESS_MS) relay.reportViolation(`${taskId} expired ${late} ms late`);
}

/**
 * A5, A8: a peer is in default only after it had the whole time to settle, by a clock that nobody set
 * and without the time in which the relay took no settlement. `row` is a task whose hold lapses now.
 */
export function checkDefaultTime(relay: SimRelay, { task, awaitedSince }: Inbound): void {
  const { queue, schedule } = relay.world;
  const had = queue.now - awaitedSince - relay.frozenMs(awaitedSince);
  if (had < schedule.holdMs) {
    relay.reportViolation(`${relay.nameOf(task.peerId)} had ${had} ms to settle ${task.taskId}`);
  }
}

/**
 * A9: a peer gets no more work on credit while what it accepted and did not settle uses the credit up.
 * `amount` is held for a task of the peer from now on.
 */
export function checkUnpaidWithinCredit(relay: SimRelay, peerId: string, amount: Micro): void {
  const { store, world } = relay;
  let unpaid = 0;
  for (const { task } of store.inbound.values()) {
    const isAccepted = task.peerId === peerId && task.state === "completed";
    const isAwaited = task.hold === "open" || task.hold === "due";
    const isUnpaid = isAccepted && task.settlement === null && !isAwaited;
    if (isUnpaid && !world.truth.cleared.has(task.taskId)) unpaid += task.amount;
  }
  const { balance, limit } = relay.clearingLine(peerId);
  if (unpaid - balance + amount > limit) {
    relay.reportViolation(`${relay.nameOf(peerId)} gets work for ${amount} with ${unpaid} unpaid`);
  }
}

/** A8: an attempt that met a frozen peer is none. */
export function checkFreezeAttempts(relay: SimRelay, settlement: OutgoingSettlement): void {
  const { taskId, attempts } = settlement;
  const { sent, metFrozen } = relay.store.sendCounts.get(taskId) ?? { sent: 0, metFrozen: 0 };
  if (attempts + metFrozen > sent) {
    relay.reportViolation(`a freeze used up an attempt of the settlement of ${taskId}`);
  }
}
