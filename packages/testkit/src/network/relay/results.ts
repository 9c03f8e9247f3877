import { buildReleasePostings } from "@agent/budget";
import {
  awaitLateSettlement,
  beginReturn,
  endReturn,
  finishInbound,
  isReturnDue,
  checkResultState,
  type OutboundTask,
  applyResult,
  type TaskResult,
  verifyResult,
} from "@agent/federation-protocol/forwarding";
import {
  createSettlementForward,
  repeatPaidSettlement,
  type SettlementForward,
} from "@agent/federation-protocol/settlement";
import { type ExecutionReceipt, hashReceipt, signAttestation } from "@agent/receipts";
import { completeRelayedTask } from "./complete-relayed-task.ts";
import { saveInbound } from "./forwarding.ts";
import type { Reply } from "../links.ts";
import { enqueueSettlement } from "./enqueue-settlement.ts";
import type { Inbound } from "./relay-store.ts";
import { recordSettlement } from "./settlements.ts";
import type { SimRelay } from "./sim-relay.ts";

/** Completes a task of an agent of this relay. */
export function completeWork(relay: SimRelay, taskId: string, receipt: ExecutionReceipt): void {
  relay.delivered.set(taskId, receipt);
  enqueueResult(relay, taskId, receipt);
  relay.tick();
}

/** Accepts a result from the peer to which the task was sent. */
export function receiveResult(relay: SimRelay, from: string, body: TaskResult): Reply | undefined {
  const peer = relay.peer(from);
  if (peer === undefined || !relay.isLivePeer(from)) return { status: 403 };
  const row = relay.store.outbound.get(body.task_id);
  const hash = hashReceipt(body.receipt as unknown as ExecutionReceipt);
  const senderId = relay.world.faults.acceptsAnyResult ? (row?.task.peerId ?? from) : from;
  const own = relay.store.ownTasks.get(body.task_id);
  const checked = checkResultState(row?.task ?? null, {
    from: senderId,
    receiptHash: hash,
    now: relay.now,
  });
  if (!checked.ok) return relay.refuse(checked);
  if (row === undefined || checked.repeated) return buildAcceptance(relay, checked.task);
  // A task that has already ended in another way accepts no result.
  if (own !== undefined && own.state !== "open") {
    return relay.refuse({ ok: false, code: "result.task_not_found" });
  }
  const verified = verifyResult(body, { task: checked.task, self: relay.id, peer });
  if (!verified.ok) return relay.refuse(verified);
  const relayed = relay.store.inbound.has(body.task_id);
  const { status } = verified.receipt;
  const task = applyResult(checked.task, { status, receiptHash: hash }, { relayed });
  relay.store.outbound.set(task.taskId, { ...row, task });
  if (relayed) enqueueResult(relay, task.taskId, verified.receipt);
  else completeOwnTask(relay, task.taskId, status);
  return buildAcceptance(relay, task);
}

/** Returns the due results. */
export function* runReturningJobs(relay: SimRelay): Iterable<number | null> {
  for (const row of relay.store.inbound.values()) {
    if (isReturnDue(row.task, relay.now)) sendResult(relay, row);
    const { task } = relay.store.inbound.get(row.task.taskId) ?? row;
    if (task.state === "returning") yield task.dueAt;
  }
}

/** Queues the receipt of a peer's task for its return. */
export function enqueueResult(relay: SimRelay, taskId: string, receipt: ExecutionReceipt): void {
  const row = relay.store.inbound.get(taskId);
  if (row === undefined || row.task.state !== "running") return;
  const task = finishInbound(
    row.task,
    { status: receipt.status, receiptHash: hashReceipt(receipt) },
    { now: relay.now, holdMs: relay.world.schedule.holdMs },
  );
  const awaitedSince = relay.world.queue.now;
  saveInbound(relay, { ...row, receipt, receivedAt: relay.now, awaitedSince }, task);
}

function completeOwnTask(
  relay: SimRelay,
  taskId: string,
  status: ExecutionReceipt["status"],
): void {
  const own = relay.store.ownTasks.get(taskId);
  if (own === undefined) return;
  own.state = status;
  if (status === "completed" && own.price > 0) enqueueSettlement(relay, taskId, true);
  else relay.post(taskId, buildReleasePostings({ ...own, amount: own.locked }));
}

function sendResult(relay: SimRelay, row: Inbound): void {
  const begun = beginReturn(row.task, relay.world.schedule, relay.now);
  const { taskId, peerId } = begun;
  const { receipt } = row;
  if (receipt === null || begun.receiptHash === null) return;
  relay.store.inbound.set(taskId, { ...row, task: begun });
  const attestation = signAttestation(
    {
      relay_id: relay.id,
      task_id: taskId,
      receipt_hash: begun.receiptHash,
      received_at: row.receivedAt,
      attested_at: relay.now,
    },
    relay.secretKey,
  );
  const askedAt = relay.now;
  const message = {
    task_id: taskId,
    origin_relay: peerId,
    receipt,
    public_key: receipt.public_key,
    attestation,
    timestamp: askedAt,
    to: peerId,
  };
  relay.send(peerId, "task/result", message, (delivery, body) => {
    const { settlement } = (body ?? {}) as ResultAnswer;
    const recorded = settlement && recordSettlement(relay, peerId, settlement, askedAt);
    const current = relay.store.inbound.get(taskId);
    if (current === undefined) return;
    const { faults, queue, schedule } = relay.world;
    const isExpired = recorded?.code === "federation.timestamp_expired";
    const isSettlementExpired = isExpired && !faults.expiresSlowAnswers;
    const times = { ...schedule, sentAt: askedAt, now: relay.now, isSettlementExpired };
    const ended = endReturn(current.task, delivery, times);
    const awaiting = awaitLateSettlement(ended, current.task, times);
    const isLate = awaiting.hold === "due" && current.task.hold !== "due";
    const row = isLate ? { ...current, awaitedSince: queue.now } : current;
    saveInbound(relay, row, faults.ignoresLateAcceptance ? ended : awaiting);
    completeRelayedTask(relay, taskId);
  });
}

interface ResultAnswer {
  readonly settlement?: SettlementForward;
}

/** Adds the settlement of a paid task to the answer, because the peer may have lost it. */
function buildAcceptance(relay: SimRelay, { taskId, state }: OutboundTask): Reply | undefined {
  if (state === "relaying") return { status: 202, body: { status: "pending" } };
  if (isStalling(relay, taskId)) return undefined;
  const entry = relay.store.outbox.get(taskId);
  const paid = entry === undefined ? null : repeatPaidSettlement(entry, relay.now);
  if (paid === null) return { status: 200, body: { status: "accepted" } };
  const settlement = createSettlementForward(paid, { self: relay.id, secretKey: relay.secretKey });
  return { status: 200, body: { status: "accepted", settlement } satisfies AcceptedAnswer };
}

type AcceptedAnswer = ResultAnswer & { readonly status: "accepted" };

/** A cheating relay does not answer a result until the hold has expired. */
function isStalling(relay: SimRelay, taskId: string): boolean {
  const { now } = relay.world.queue;
  const since = relay.store.stalledSince.get(taskId) ?? now;
  relay.store.stalledSince.set(taskId, since);
  return now - since < relay.stallMs;
}
