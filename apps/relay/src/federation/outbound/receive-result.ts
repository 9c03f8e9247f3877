import type { PeerOperations } from "@agent/federation-protocol/http";
import { canonicalize } from "@agent/crypto";
import { listRelays } from "@agent/federation-protocol/discovery";
import {
  checkResultState,
  applyResult,
  verifyResultAsync,
  type OutboundTask,
  type TaskResult,
  type TaskResultAnswer,
  type VerifiedResult,
} from "@agent/federation-protocol/forwarding";
import {
  createSettlementForward,
  repeatPaidSettlement,
} from "@agent/federation-protocol/settlement";
import { createResultAcceptance } from "@agent/federation-protocol/signing";
import { getCountedStatus } from "@agent/routing-semiring";
import { refuse, type Answer, type Refusal } from "@agent/wire";
import { logSettlement } from "../../budget/record-settlement.ts";
import type { FederationPeerRow } from "../../storage/tables/federation.ts";
import { completeTask } from "../../tasks/receipts/complete-task.ts";
import { publishReputation } from "../../tasks/receipts/record-task-outcome.ts";
import { findTask } from "../../tasks/store.ts";
import { countsForPeer } from "../../trust/counts-for-peer.ts";
import { recordTrustOutcome } from "../../trust/record-trust-outcome.ts";
import { putRemoteKey } from "./agent-key-store.ts";
import type { FederationServices } from "../federation-services.ts";
import { finishInboundTask } from "../inbound/finish-inbound-task.ts";
import { findOutbound, saveOutbound, type OutboundRecord } from "./outbound-store.ts";
import { findOutboxOfTask } from "../settlement/outbox-store.ts";
import { isFromPeer } from "../peer-ref.ts";
import { peerSupports } from "../peers/peer-state.ts";
import { toWireRefusal } from "../transport/to-wire-refusal.ts";
import { enqueueSettlement } from "../settlement/enqueue-settlement.ts";

type ReceiveResultAnswer =
  | Answer<PeerOperations["returnResult"]>
  | Refusal<"federation.wrong_sender">;

/**
 * Accepts the result of a forwarded task: the receipt under the key that was pinned when the task was
 * sent, and the peer's attestation. One transaction then ends the task, as for a local receipt, and
 * stores the settlement that is owed to the peer.
 */
export async function receiveResult(
  services: FederationServices,
  from: FederationPeerRow,
  message: TaskResult,
): Promise<ReceiveResultAnswer> {
  const { storage, identity, federation } = services;
  const { task_id } = message;
  const outbound = await findOutbound(storage.read, task_id);
  if (outbound === undefined) return refuse("result.task_not_found");
  if (outbound.task.peerId !== from.relay_id) return refuse("result.wrong_peer");
  const verified = await verifyResultAsync(message, {
    task: outbound.task,
    self: identity.relayId,
    peer: { relayId: from.relay_id, publicKey: from.public_key },
  });
  if (!verified.ok) {
    const { code, detail } = verified;
    const isKeyMissing = code === "result.key_mismatch" || detail === "receipt.key_missing";
    const event = isKeyMissing
      ? "federation.receipt_key_missing"
      : "federation.receipt_signature_invalid";
    federation.log.warn(event, { correlationId: task_id, relay_id: from.relay_id, code, detail });
    return toWireRefusal(verified);
  }
  const stored = await storeResult(services, from, outbound.task, verified);
  if (!stored.ok) return stored;
  if (stored.task.state === "relaying") return { status: 202, body: { status: "pending" } };
  const settlement = await findPaidSettlement(services, from, task_id);
  return { status: 200, body: { ...buildAcceptance(services, from, verified), ...settlement } };
}

/** Returns the settlement of a task that is paid in the books of both relays, signed again. */
async function findPaidSettlement(
  { storage, identity, runtime }: FederationServices,
  peer: FederationPeerRow,
  taskId: string,
): Promise<Pick<TaskResultAnswer, "settlement">> {
  if (!peerSupports(peer, "position")) return {};
  const entry = await findOutboxOfTask(storage.read, taskId);
  const paid = entry === undefined ? null : repeatPaidSettlement(entry.settlement, runtime.now());
  if (paid === null) return {};
  const { relayId: self, secretKey } = identity;
  return { settlement: { ...createSettlementForward(paid, { self, secretKey }) } };
}

/** Builds the acceptance, signed for a peer that supports it. */
function buildAcceptance(
  { identity, runtime }: FederationServices,
  peer: FederationPeerRow,
  { receipt, receiptHash }: VerifiedResult,
): TaskResultAnswer {
  if (!peerSupports(peer, "signed_accepted")) return { status: "accepted" };
  const { relayId, secretKey } = identity;
  return createResultAcceptance(
    { taskId: receipt.task_id, receiptHash, relayId },
    { secretKey, now: runtime.now() },
  );
}

/**
 * Whether a peer executed a task with its own agent. The route of a task that came from a peer may be
 * that peer's claim.
 */
function isOwnWork(
  { task, route }: OutboundRecord,
  { relayed }: { readonly relayed: boolean },
): boolean {
  return !relayed && listRelays(route).at(-1) === task.peerId;
}

async function storeResult(
  services: FederationServices,
  from: FederationPeerRow,
  { taskId }: OutboundTask,
  { receipt, receiptHash, attestation }: VerifiedResult,
) {
  const { storage, runtime, identity, log, waiters, trustGraph, federation } = services;
  const done = await storage.transaction(async (tx) => {
    const now = runtime.now();
    const outbound = await findOutbound(tx, taskId);
    const checked = checkResultState(outbound?.task ?? null, {
      from: from.relay_id,
      receiptHash,
      now,
    });
    if (!checked.ok) return toWireRefusal(checked);
    if (outbound === undefined || checked.repeated) {
      return { ok: true as const, task: checked.task, ended: undefined };
    }
    const row = await findTask(tx, taskId);
    if (row === undefined) return refuse("result.task_not_found");
    const relayed = isFromPeer(row);
    const task = applyResult(checked.task, { status: receipt.status, receiptHash }, { relayed });
    await saveOutbound(tx, { ...outbound, task, attestation: JSON.stringify(attestation) });
    await putRemoteKey(tx, {
      agent_id: task.agentId,
      relay_id: from.relay_id,
      public_key: task.publicKey,
      is_own: isOwnWork(outbound, { relayed }) ? 1 : 0,
    });
    // Decided first, because the payer's own record of the task uses fees of the payer.
    const counts = await countsForPeer(tx, {
      peerId: from.relay_id,
      payerId: row.submitted_by,
      priced: row.allocation_id !== null,
      hasFailed: receipt.status === "failed",
      fee: task.terms.fee,
    });
    const ended = await completeTask(
      tx,
      services,
      row,
      {
        receipt,
        hash: receiptHash,
        text: canonicalize(receipt),
        endedBy: { kind: "peer", relayId: from.relay_id },
        publicKey: task.publicKey,
      },
      relayed ? finishInboundTask : enqueueSettlement,
    );
    if (!ended.ok) return refuse("result.task_not_found");
    const priced = ended.task.allocation_id !== null;
    const peerTrust = await recordTrustOutcome(tx, {
      delegatorId: identity.relayId,
      executorId: from.relay_id,
      isNeutral: !counts,
      status: getCountedStatus({ receipt: receipt.status, priced }),
      latencyMs: now - ended.task.submitted_at,
      priced,
      // The payment counts what this relay kept.
      fee: 0,
      now,
    });
    return { ok: true as const, task, ended, peerTrust };
  });
  if (!done.ok) return done;
  if (done.ended !== undefined) {
    const { agent_id, status } = receipt;
    log.info("receipt.verified", { correlationId: taskId, agent_id, status });
    const { settlement } = done.ended;
    if (settlement !== undefined) logSettlement(log, settlement, { relay_id: from.relay_id });
    publishReputation(services, taskId, done.ended.reputationUpdate);
    if (done.peerTrust !== undefined) trustGraph.update(done.peerTrust.record);
    waiters.notify(taskId);
    federation.wake();
  }
  return done;
}
