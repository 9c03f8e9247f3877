import type { Micro } from "@agent/budget";
import { createRetrySchedule } from "@agent/federation-protocol/delivery";
import { finishInbound, releasePayable } from "@agent/federation-protocol/forwarding";
import { buildInboundRelease } from "@agent/federation-protocol/settlement";
import { postClearing } from "../../budget/post-clearing.ts";
import type { SettlementInput } from "../../budget/settle-from-hold.ts";
import type { Services } from "../../services.ts";
import type { Tx } from "../../storage/storage.ts";
import { deleteHold, saveHold } from "../settlement/hold-store.ts";
import { findInbound, saveInbound } from "./inbound-store.ts";
import { updateOutbound } from "../outbound/outbound-store.ts";

/**
 * Stores the receipt of a task that came from a peer. The hold of completed work stays until the peer
 * settles; otherwise it is returned at once. The result waits in the database to be sent.
 */
export async function finishInboundTask(
  tx: Tx,
  { runtime, config }: Pick<Services, "runtime" | "config">,
  task: { readonly task_id: string },
  { receiptHash, status }: SettlementInput,
): Promise<{ readonly ok: true; readonly settlement: undefined }> {
  const inbound = await findInbound(tx, task.task_id);
  if (inbound === undefined) throw new Error(`task ${task.task_id} did not come from a peer`);
  const { holdMs } = createRetrySchedule(config.federation.retryScale);
  const now = runtime.now();
  const finished = finishInbound(inbound.task, { status, receiptHash }, { now, holdMs });
  await saveInbound(tx, { ...inbound, task: finished });
  const { taskId, peerId, amount, hold } = finished;
  if (hold === "open") {
    if (amount > 0) await saveHold(tx, { task_id: taskId, amount });
  } else if (inbound.task.hold === "open") {
    await releaseInboundHold(tx, runtime, { taskId, peerId, amount });
  }
  return { ok: true, settlement: undefined };
}

/** Releases the hold for what a peer would have owed for a task. */
export async function releaseInboundHold(
  tx: Tx,
  runtime: Services["runtime"],
  {
    taskId,
    peerId,
    amount,
  }: { readonly taskId: string; readonly peerId: string; readonly amount: Micro },
): Promise<void> {
  await postClearing(tx, runtime, buildInboundRelease({ taskId, peerId, amount }), {
    taskId,
    description: "not settled",
  });
  await deleteHold(tx, taskId);
  await releaseOutboundReservation(tx, taskId);
}

/** Removes a middle relay's reservation for the next relay from the task's outbound row. */
export async function releaseOutboundReservation(tx: Tx, taskId: string): Promise<void> {
  await updateOutbound(tx, taskId, releasePayable);
}
