import {
  beginCancel,
  endCancel,
  isCancelDue,
  parseCancelAnswer,
  type CancelOutcome,
} from "@agent/federation-protocol/forwarding";
import type { FederationPeerRow } from "../../storage/tables/federation.ts";
import type { TaskRow } from "../../storage/tables/tasks.ts";
import { publishEndWithoutReceipt } from "../../tasks/receipts/end-without-receipt.ts";
import { withRecipient, callPeer } from "../transport/call-peer.ts";
import type { FederationServices } from "../federation-services.ts";
import { endForwardedTask } from "./end-forwarded-task.ts";
import { findOutbound, saveOutbound } from "../outbound/outbound-store.ts";
import { isFromPeer } from "../peer-ref.ts";
import { peerSupports } from "../peers/peer-state.ts";
import { findPeer } from "../peers/peer-store.ts";

/**
 * Asks the peer that has a task to cancel it. Only the peer's signed answer ends the task here: its
 * executor may have finished, and a result that arrives first is accepted.
 */
export async function sendPeerCancel(services: FederationServices, taskId: string): Promise<void> {
  const { storage, runtime, identity, federation } = services;
  const started = await storage.transaction(async (tx) => {
    const outbound = await findOutbound(tx, taskId);
    if (outbound === undefined || !isCancelDue(outbound.task, runtime.now())) return undefined;
    const task = beginCancel(outbound.task, runtime.now());
    await saveOutbound(tx, { ...outbound, task });
    return task;
  });
  const peer = started && (await findPeer(storage.read, started.peerId));
  if (started === undefined || peer === undefined) return;
  if (!peerSupports(peer, "cancel")) {
    await applyCancelAnswer(services, peer, { taskId, meaning: "never" });
    return;
  }
  const reply = await callPeer(services, peer, {
    method: "POST",
    path: "/federation/v1/task/cancel",
    body: withRecipient(services, peer, { task_id: taskId, origin_relay: identity.relayId }),
  });
  const status = reply.delivery.kind === "answered" ? reply.delivery.status : 0;
  const meaning = parseCancelAnswer(
    { status, code: reply.code, body: reply.body },
    { task: started, publicKey: peer.public_key },
  );
  const cancelled = await applyCancelAnswer(services, peer, { taskId, meaning });
  federation.log.info("federation.task.cancel", {
    correlationId: taskId,
    relay_id: peer.relay_id,
    meaning,
    code: reply.code,
  });
  if (cancelled === undefined) return;
  publishEndWithoutReceipt(services, cancelled);
  if (isFromPeer(cancelled)) federation.wake();
}

/** Returns the task if the peer's answer ended it. */
async function applyCancelAnswer(
  services: FederationServices,
  { relay_id }: FederationPeerRow,
  { taskId, meaning }: { readonly taskId: string; readonly meaning: CancelOutcome },
): Promise<TaskRow | undefined> {
  const { storage } = services;
  return storage.transaction(async (tx) => {
    const outbound = await findOutbound(tx, taskId);
    if (outbound === undefined) return undefined;
    const task = endCancel(outbound.task, meaning);
    if (task !== outbound.task) await saveOutbound(tx, { ...outbound, task });
    if (meaning !== "cancelled") return undefined;
    return endForwardedTask(tx, services, { taskId, peerId: relay_id });
  });
}
