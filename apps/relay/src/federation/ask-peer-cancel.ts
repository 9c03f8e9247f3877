import {
  beginCancel,
  endCancel,
  isCancelDue,
  readCancelAnswer,
  type CancelMeaning,
} from "@agent/federation-protocol";
import type { FederationPeerRow } from "../storage/tables/federation.ts";
import type { TaskRow } from "../storage/tables/tasks.ts";
import { cancelForwarded } from "../tasks/assignment-store.ts";
import { announceEndWithoutReceipt, endWithoutReceipt } from "../tasks/end-without-receipt.ts";
import { addressed, callPeer } from "./call-peer.ts";
import type { FederationServices } from "./federation.ts";
import { findOutbound, putOutbound } from "./outbound-store.ts";
import { claimOf, isFromPeer } from "./parties.ts";
import { peerSupports } from "./peer-life.ts";
import { findPeer } from "./peer-store.ts";

/**
 * Asks the peer that has a task to cancel it. Only the peer's signed word ends the task here: its worker
 * may be done, and a result that comes before is taken.
 */
export async function askPeerCancel(services: FederationServices, taskId: string): Promise<void> {
  const { storage, runtime, identity, federation } = services;
  const begun = await storage.transaction(async (tx) => {
    const outbound = await findOutbound(tx, taskId);
    if (outbound === undefined || !isCancelDue(outbound.task, runtime.now())) return undefined;
    const task = beginCancel(outbound.task, runtime.now());
    await putOutbound(tx, { ...outbound, task });
    return task;
  });
  const peer = begun && (await findPeer(storage.read, begun.peerId));
  if (begun === undefined || peer === undefined) return;
  if (!peerSupports(peer, "cancel")) {
    await conclude(services, peer, { taskId, meaning: "never" });
    return;
  }
  const reply = await callPeer(services, peer, {
    method: "POST",
    path: "/federation/v1/task/cancel",
    body: addressed(services, peer, { task_id: taskId, origin_relay: identity.relayId }),
  });
  const status = reply.delivery.kind === "answered" ? reply.delivery.status : 0;
  const meaning = readCancelAnswer(
    { status, code: reply.code, body: reply.body },
    { task: begun, publicKey: peer.public_key },
  );
  const cancelled = await conclude(services, peer, { taskId, meaning });
  federation.log.info("federation.task.cancel", {
    correlationId: taskId,
    relay_id: peer.relay_id,
    meaning,
    code: reply.code,
  });
  if (cancelled === undefined) return;
  announceEndWithoutReceipt(services, cancelled);
  if (isFromPeer(cancelled)) federation.wake();
}

/** The task as it ended, if the peer's word ends it. */
async function conclude(
  services: FederationServices,
  { relay_id }: FederationPeerRow,
  { taskId, meaning }: { readonly taskId: string; readonly meaning: CancelMeaning },
): Promise<TaskRow | undefined> {
  const { storage, runtime } = services;
  return storage.transaction(async (tx) => {
    const outbound = await findOutbound(tx, taskId);
    if (outbound === undefined) return undefined;
    const task = endCancel(outbound.task, meaning);
    if (task !== outbound.task) await putOutbound(tx, { ...outbound, task });
    if (meaning !== "cancelled") return undefined;
    const agreed = { task_id: taskId, claimed_by: claimOf(relay_id), now: runtime.now() };
    const row = await cancelForwarded(tx, agreed);
    if (row !== undefined) await endWithoutReceipt(tx, services, row, "cancelled");
    return row;
  });
}
