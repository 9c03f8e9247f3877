import type { Micro } from "@agent/budget";
import type { OutgoingSettlement } from "@agent/federation-protocol/settlement";
import type { Inbound, OwnTask } from "../relay/relay-store.ts";
import type { SimRelay } from "../relay/sim-relay.ts";

/** The maximum delay of due work, counted from when the relay could do it. */
const MAX_LATENESS_MS = 60_000;

/**
 * A5: checks that a task expires neither early nor much later than due, whatever the wall clock shows. `own` is
 * a task that the relay expires now.
 */
export function checkExpiryTime(relay: SimRelay, { taskId, endsAt }: OwnTask): void {
  const { now } = relay.world.queue;
  if (now < endsAt) relay.reportViolation(`${taskId} expired ${endsAt - now} ms early`);
  const late = now - Math.max(endsAt, relay.workingSince);
  if (late > MAX_LATENESS_MS) relay.reportViolation(`${taskId} expired ${late} ms late`);
}

/**
 * A relay's clock follows its wall clock across a difference of up to this size, so a measured time, such as
 * the length of a freeze, can be wrong by as much.
 */
const MAX_CLOCK_ERROR_MS = 60_000;

/**
 * A5, A8: checks that a peer is in default only after the full time to settle, measured by a correct clock and
 * without the time in which the relay accepted no settlement. `row` is a task whose hold expires now. That time
 * is twice what a peer needs, so a clock error harms no peer.
 */
export function checkDefaultTime(relay: SimRelay, { task, awaitedSince }: Inbound): void {
  const { queue, schedule } = relay.world;
  const had = queue.now - awaitedSince - relay.frozenMs(awaitedSince);
  if (had < schedule.holdMs - MAX_CLOCK_ERROR_MS) {
    relay.reportViolation(`${relay.nameOf(task.peerId)} had ${had} ms to settle ${task.taskId}`);
  }
}

/**
 * A9: checks that a peer gets no work on credit while its unsettled results use up the credit. `amount` is
 * about to be held for a task of the peer.
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

/** A8: checks that attempts that reached a frozen peer do not count. */
export function checkFreezeAttempts(relay: SimRelay, settlement: OutgoingSettlement): void {
  const { taskId, attempts } = settlement;
  const { sent, metFrozen } = relay.store.sendCounts.get(taskId) ?? { sent: 0, metFrozen: 0 };
  if (attempts + metFrozen > sent) {
    relay.reportViolation(`a freeze used up an attempt of the settlement of ${taskId}`);
  }
}
