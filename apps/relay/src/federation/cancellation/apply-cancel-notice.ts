import { checkCancelNotice } from "@agent/federation-protocol/forwarding";
import type { Tx } from "../../storage/storage.ts";
import type { FederationPeerRow } from "../../storage/tables/federation.ts";
import type { TaskRow } from "../../storage/tables/tasks.ts";
import type { FederationServices } from "../federation-services.ts";
import { findOutbound } from "../outbound/outbound-store.ts";
import { toWireRefusal } from "../transport/to-wire-refusal.ts";
import { endForwardedTask } from "./end-forwarded-task.ts";

/** Ends a task that a peer has because the peer states that it ended there without a receipt. */
export async function applyCancelNotice(
  tx: Tx,
  services: FederationServices,
  { relay_id: peerId }: FederationPeerRow,
  taskId: string,
) {
  const outbound = await findOutbound(tx, taskId);
  const checked = checkCancelNotice(outbound?.task ?? null, { from: peerId });
  if (!checked.ok) return toWireRefusal(checked);
  if (checked.state === "cancelled") return { ok: true as const, status: "cancelled" as const };
  const row = await endForwardedTask(tx, services, { taskId, peerId });
  // The task has expired, but the job that removes expired tasks has not run yet.
  if (row === undefined) return { ok: true as const, status: "claimed" as const };
  const ended: { ok: true; status: "cancelled"; row: TaskRow } = {
    ok: true,
    status: "cancelled",
    row,
  };
  return { ok: true as const, status: "cancelled" as const, cancelled: ended };
}
