import { classifyDelivery } from "@agent/federation-protocol/delivery";
import {
  beginNotice,
  endNotice,
  isNoticeDue,
  stopNotice,
} from "@agent/federation-protocol/forwarding";
import type { FederationServices } from "../federation-services.ts";
import { findInbound, getSenderEnd, saveInbound } from "../inbound/inbound-store.ts";
import { peerSupports } from "../peers/peer-state.ts";
import { findPeer } from "../peers/peer-store.ts";
import { callPeer, withRecipient } from "../transport/call-peer.ts";

/** Tells the peer that sent a task that it has ended here without a receipt, if that is due. */
export async function sendCancelNotice(
  services: FederationServices,
  taskId: string,
): Promise<void> {
  const { storage, runtime, federation } = services;
  // Most tasks that are due have a result instead, which needs no transaction here.
  const due = await findInbound(storage.read, taskId);
  if (due === undefined || !isNoticeDue(due.task, runtime.now())) return;
  const peer = await storage.transaction(async (tx) => {
    const inbound = await findInbound(tx, taskId);
    const now = runtime.now();
    if (inbound === undefined || !isNoticeDue(inbound.task, now)) return undefined;
    const sender = await findPeer(tx, inbound.task.peerId);
    const isRead = sender !== undefined && peerSupports(sender, "cancel_notice");
    const times = { now, until: getSenderEnd(inbound) };
    const task = isRead
      ? beginNotice(inbound.task, federation.schedule, times)
      : stopNotice(inbound.task);
    await saveInbound(tx, { ...inbound, task });
    return task.dueAt === null ? undefined : sender;
  });
  if (peer === undefined) return;
  const { delivery, code } = await callPeer(services, peer, {
    method: "POST",
    path: "/federation/v1/task/cancel",
    // The sender of the task is the receiver of the notice.
    body: withRecipient(services, peer, { task_id: taskId, origin_relay: peer.relay_id }),
  });
  await storage.transaction(async (tx) => {
    const inbound = await findInbound(tx, taskId);
    if (inbound === undefined) return;
    const task = endNotice(inbound.task, delivery);
    if (task !== inbound.task) await saveInbound(tx, { ...inbound, task });
  });
  federation.log.info("federation.cancel_notice.sent", {
    correlationId: taskId,
    relay_id: peer.relay_id,
    meaning: classifyDelivery(delivery),
    code,
  });
}
