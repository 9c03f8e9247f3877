import type { PeerOperations } from "@agent/federation-protocol/http";
import {
  checkCancel,
  signCancelAnswer,
  type TaskCancel,
} from "@agent/federation-protocol/forwarding";
import type { Answer, Refusal } from "@agent/wire";
import type { Services } from "../../services.ts";
import type { FederationPeerRow } from "../../storage/tables/federation.ts";
import { publishCancel, cancelInTransaction } from "../../tasks/assignment/cancel-task.ts";
import type { FederationServices } from "../federation-services.ts";
import { findInbound } from "../inbound/inbound-store.ts";
import { toWireRefusal } from "../transport/to-wire-refusal.ts";
import { applyCancelNotice } from "./apply-cancel-notice.ts";

type ReceiveCancelAnswer =
  | Answer<PeerOperations["cancelForwardedTask"]>
  | Refusal<"federation.wrong_sender">;

/**
 * Cancels a task for the peer that sent it, by the same rules as for a local submitter. The answer is
 * signed: after `cancelled` this relay sends no receipt of the task. If this relay is the origin of the
 * task, the message is the notice of the peer that has the task.
 */
export async function receiveCancel(
  services: FederationServices & Pick<Services, "router">,
  from: FederationPeerRow,
  { task_id: taskId, origin_relay }: TaskCancel,
): Promise<ReceiveCancelAnswer> {
  const { storage, runtime, identity } = services;
  const done = await storage.transaction(async (tx) => {
    if (origin_relay === identity.relayId) return applyCancelNotice(tx, services, from, taskId);
    const inbound = await findInbound(tx, taskId);
    const parties = { from: from.relay_id, origin: origin_relay };
    const found = checkCancel(inbound?.task ?? null, parties);
    if (!found.ok) return toWireRefusal(found);
    if (found.state === "cancelled") return { ok: true as const, status: "cancelled" as const };
    const cancelled = await cancelInTransaction(tx, services, taskId);
    // The task has expired, but the job that removes expired tasks has not run yet.
    if (!cancelled.ok) return { ok: true as const, status: "claimed" as const };
    return { ok: true as const, status: cancelled.status, cancelled };
  });
  if (!done.ok) return done;
  if (done.cancelled !== undefined) publishCancel(services, done.cancelled);
  const status = done.status === "cancelled" ? "cancelled" : "pending";
  const { relayId, secretKey } = identity;
  const body = signCancelAnswer({ status, taskId, relayId }, { secretKey, now: runtime.now() });
  return { status: status === "cancelled" ? 200 : 202, body };
}
