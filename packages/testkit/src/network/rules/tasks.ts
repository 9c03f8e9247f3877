import type { SimRelay } from "../relay/sim-relay.ts";
import type { GroundTruth } from "../ground-truth.ts";

/** Checks that a task is either paid once and charged once, or neither. */
export function* checkTasksPaidOnce(
  relays: readonly SimRelay[],
  { lost }: GroundTruth,
): Iterable<string> {
  const paid = new Map<string, number>();
  const charged = new Map<string, number>();
  const count = (map: Map<string, number>, taskId: string) =>
    map.set(taskId, (map.get(taskId) ?? 0) + 1);
  for (const relay of relays) {
    for (const { taskId, postings } of relay.store.movements) {
      if (taskId === null) continue;
      for (const { account, type, amount } of postings) {
        if (!account.startsWith("agent:")) continue;
        if (type === "settlement_credit" && amount > 0) count(paid, taskId);
        if (type === "settlement_debit") count(charged, taskId);
      }
    }
  }
  for (const taskId of new Set([...paid.keys(), ...charged.keys()])) {
    const [credits, debits] = [paid.get(taskId) ?? 0, charged.get(taskId) ?? 0];
    // A restored relay may have lost its side of a payment; neither side ever has it twice.
    const isOnce = lost.has(taskId) ? credits <= 1 && debits <= 1 : credits === 1 && debits === 1;
    if (!isOnce) yield `${taskId} was paid ${credits} times and charged ${debits} times`;
  }
}

/** A8: checks that a paid settlement is booked at each receiver that knows the task, even after a restore. */
export function* checkPaidSettlementsBooked(
  relays: readonly SimRelay[],
  { shortOfCredit }: GroundTruth,
): Iterable<string> {
  for (const sender of relays) {
    for (const { taskId, peerId, resolution } of sender.store.outbox.values()) {
      if (resolution !== "paid" || shortOfCredit.has(taskId)) continue;
      const receiver = relays.find(({ id }) => id === peerId);
      const task = receiver?.store.inbound.get(taskId)?.task;
      if (task?.receiptStatus === "completed" && task.settlement === null) {
        yield `${receiver?.name}: ${taskId} is not booked, and ${sender.name} has paid it`;
      }
    }
  }
}

/** Checks that each relay on a task's path has the same state of the task as the previous one. */
export function* checkTaskStates(
  relays: readonly SimRelay[],
  { lost }: GroundTruth,
): Iterable<string> {
  const byId = new Map(relays.map((relay) => [relay.id, relay]));
  for (const relay of relays) {
    for (const own of relay.store.ownTasks.values()) {
      if (own.state === "open") yield `${relay.name}: ${own.taskId} is still open`;
      const sent = relay.store.outbound.get(own.taskId)?.task.state ?? "void";
      const isVoid = sent === "void" || sent === "refused";
      const isSent = own.peerId !== null && !lost.has(own.taskId);
      if (isSent && own.state !== (isVoid ? "expired" : sent)) {
        yield `${relay.name}: ${own.taskId} is ${own.state} and was sent as ${sent}`;
      }
    }
    for (const { task } of relay.store.inbound.values()) {
      if (lost.has(task.taskId)) continue;
      const sender = byId.get(task.peerId)?.store.outbound.get(task.taskId)?.task;
      const isSenders = sender?.peerId === relay.id;
      const expected = isSenders && sender.state !== "refused" ? sender.state : "void";
      if (task.state !== expected) {
        yield `${relay.name}: ${task.taskId} is ${task.state}, for its sender ${expected}`;
      }
    }
    for (const { task } of relay.store.outbound.values()) {
      if (lost.has(task.taskId)) continue;
      const before = relay.store.inbound.get(task.taskId)?.task.state;
      const after = task.state === "refused" ? "void" : task.state;
      if (before !== undefined && before !== after) {
        yield `${relay.name}: ${task.taskId} was received as ${before} and forwarded as ${after}`;
      }
      const isFinal = ["completed", "failed", "denied"].includes(task.state);
      const receiver = byId.get(task.peerId)?.store.inbound.get(task.taskId)?.task;
      if (isFinal && receiver?.state !== task.state) {
        yield `${relay.name}: ${task.taskId} is ${task.state}, for its receiver ${receiver?.state}`;
      }
    }
  }
}
