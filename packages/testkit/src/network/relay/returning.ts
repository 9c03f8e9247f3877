import { releasePostings } from "@agent/budget";
import {
  awaitLateSettlement,
  beginReturn,
  concludeRelayed,
  endReturn,
  finishInbound,
  isReturnDue,
  judgeResultOf,
  releasePayable,
  takeResult,
  type TaskResult,
  verifyResult,
} from "@agent/federation-protocol";
import { type ExecutionReceipt, receiptHash, signAttestation } from "@agent/receipts";
import { storeInbound } from "./forwarding.ts";
import type { Reply } from "../links.ts";
import { openSettlementOf } from "./open-settlement.ts";
import type { Inbound } from "./relay-store.ts";
import type { SimRelay } from "./sim-relay.ts";

/** An agent of this relay is done. */
export function finishWork(relay: SimRelay, taskId: string, receipt: ExecutionReceipt): void {
  returnReceipt(relay, taskId, receipt);
  relay.tick();
}

/** Takes a result back from the peer that a task was sent to. */
export function takeResultOf(relay: SimRelay, from: string, body: TaskResult): Reply {
  const peer = relay.peer(from);
  if (peer === undefined || !relay.isLivePeer(from)) return { status: 403 };
  const row = relay.store.outbound.get(body.task_id);
  const hash = receiptHash(body.receipt as unknown as ExecutionReceipt);
  const speaker = relay.world.faults.takesAnyResult ? (row?.task.peerId ?? from) : from;
  const judged = judgeResultOf(row?.task ?? null, {
    from: speaker,
    receiptHash: hash,
    now: relay.now,
  });
  if (!judged.ok) return relay.refuse(judged);
  if (row === undefined || judged.repeated) return acceptance(judged.task.state);
  const verified = verifyResult(body, { task: judged.task, self: relay.id, peer });
  if (!verified.ok) return relay.refuse(verified);
  const relayed = relay.store.inbound.has(body.task_id);
  const { status } = verified.receipt;
  const task = takeResult(judged.task, { status, receiptHash: hash }, { relayed });
  relay.store.outbound.set(task.taskId, { ...row, task });
  if (relayed) returnReceipt(relay, task.taskId, verified.receipt);
  else finishOwn(relay, task.taskId, status);
  return acceptance(task.state);
}

/** Sends back what is due. */
export function* returningJobs(relay: SimRelay): Iterable<number | null> {
  for (const row of relay.store.inbound.values()) {
    if (isReturnDue(row.task, relay.now)) sendResult(relay, row);
    const { task } = relay.store.inbound.get(row.task.taskId) ?? row;
    if (task.state === "returning") yield task.dueAt;
  }
}

/** What the relay before this one said of a result is said of the relay that it came from, too. */
export function conclude(relay: SimRelay, taskId: string): void {
  const inbound = relay.store.inbound.get(taskId);
  const outbound = relay.store.outbound.get(taskId);
  if (inbound === undefined || outbound === undefined) return;
  if (inbound.task.state === "returning" || inbound.task.state === "running") return;
  const task = concludeRelayed(outbound.task, inbound.task.state !== "void");
  const isOver = inbound.task.hold !== "open";
  relay.store.outbound.set(taskId, { ...outbound, task: isOver ? releasePayable(task) : task });
}

function returnReceipt(relay: SimRelay, taskId: string, receipt: ExecutionReceipt): void {
  const row = relay.store.inbound.get(taskId);
  if (row === undefined || row.task.state !== "running") return;
  const task = finishInbound(
    row.task,
    { status: receipt.status, receiptHash: receiptHash(receipt) },
    { now: relay.now, holdMs: relay.world.schedule.holdMs },
  );
  storeInbound(relay, { ...row, receipt, receivedAt: relay.now }, task);
}

function finishOwn(relay: SimRelay, taskId: string, status: ExecutionReceipt["status"]): void {
  const own = relay.store.own.get(taskId);
  if (own === undefined) return;
  own.state = status;
  if (status === "completed" && own.price > 0) openSettlementOf(relay, taskId, true);
  else relay.post(taskId, releasePostings({ ...own, amount: own.locked }));
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
  const message = {
    task_id: taskId,
    origin_relay: peerId,
    receipt,
    public_key: receipt.public_key,
    attestation,
    timestamp: relay.now,
    to: peerId,
  };
  relay.send(peerId, "task/result", message, (delivery) => {
    const current = relay.store.inbound.get(taskId);
    if (current === undefined) return;
    const ended = endReturn(current.task, delivery);
    const times = { now: relay.now, holdMs: relay.world.schedule.holdMs };
    storeInbound(relay, current, awaitLateSettlement(ended, current.task, times));
    conclude(relay, taskId);
  });
}

function acceptance(state: string): Reply {
  return state === "relaying"
    ? { status: 202, body: { status: "pending" } }
    : { status: 200, body: { status: "accepted" } };
}
