import { asMicro } from "@agent/budget";
import {
  finishInbound,
  inboundRelease,
  releasePayable,
  retrySchedule,
} from "@agent/federation-protocol";
import { postClearing } from "../budget/clearing.ts";
import type { Settleable } from "../budget/settle.ts";
import type { Services } from "../services.ts";
import type { Tx } from "../storage/storage.ts";
import { endHold, keepHold } from "./hold-store.ts";
import { findInbound, putInbound } from "./inbound-store.ts";
import { findOutbound, putOutbound } from "./outbound-store.ts";

/**
 * A task that came from a peer has its receipt. Its hold stays until that peer settles; for what was
 * not done it goes back at once. The result waits in the database to be brought back.
 */
export async function finishForPeer(
  tx: Tx,
  { runtime, config }: Pick<Services, "runtime" | "config">,
  task: { readonly task_id: string },
  { receiptHash, status }: Settleable,
): Promise<{ readonly ok: true; readonly settlement: undefined }> {
  const inbound = await findInbound(tx, task.task_id);
  if (inbound === undefined) throw new Error(`task ${task.task_id} came from no peer`);
  const { holdMs } = retrySchedule(config.federation.retryScale);
  const now = runtime.now();
  const finished = finishInbound(inbound.task, { status, receiptHash }, { now, holdMs });
  await putInbound(tx, { ...inbound, task: finished });
  const { taskId, peerId, amount, hold } = finished;
  if (hold === "open") {
    if (amount > 0) await keepHold(tx, { task_id: taskId, amount });
  } else if (inbound.task.hold === "open") {
    await releaseInbound(tx, runtime, { taskId, peerId, amount });
  }
  return { ok: true, settlement: undefined };
}

/** What a peer would have owed for a task is owed no more. */
export async function releaseInbound(
  tx: Tx,
  runtime: Services["runtime"],
  {
    taskId,
    peerId,
    amount,
  }: { readonly taskId: string; readonly peerId: string; readonly amount: number },
): Promise<void> {
  await postClearing(tx, runtime, inboundRelease({ taskId, peerId, amount: asMicro(amount) }), {
    taskId,
    description: "not settled",
  });
  await endHold(tx, taskId);
  await releaseOnward(tx, taskId);
}

/** Of a relay in the middle: the row of the task promises nothing to the next relay any more. */
export async function releaseOnward(tx: Tx, taskId: string): Promise<void> {
  const onward = await findOutbound(tx, taskId);
  const task = onward && releasePayable(onward.task);
  if (onward !== undefined && task !== undefined && task !== onward.task) {
    await putOutbound(tx, { ...onward, task });
  }
}
