import type { EndedBy } from "@agent/federation-protocol/forwarding";
import { listNestedSignatures, type ExecutionReceipt } from "@agent/receipts";
import { buildLogEntry } from "@agent/transparency";
import { refuse, type Refusal } from "@agent/wire";
import { updateLastSeen } from "../../agents/store.ts";
import { settleFromHold } from "../../budget/settle-from-hold.ts";
import type { PostRefusal } from "../../budget/post-movement.ts";
import type { IssuerDependencies } from "../../credentials/issue.ts";
import { finishInboundTask } from "../../federation/inbound/finish-inbound-task.ts";
import { isExecutedByNamesake } from "../../federation/is-namesake.ts";
import { isFromPeer } from "../../federation/peer-ref.ts";
import { appendLog } from "../../log/entries/append.ts";
import type { Services } from "../../services.ts";
import type { Tx } from "../../storage/storage.ts";
import type { NewSettlement } from "../../storage/tables/budget.ts";
import type { TaskRow } from "../../storage/tables/tasks.ts";
import { enqueueTaskEnded } from "../../webhooks/enqueue-task-webhooks.ts";
import { recordTaskEvent } from "../events/record-task-event.ts";
import { recordTaskOutcome, type ReputationUpdate } from "./record-task-outcome.ts";
import { releaseTaskSlot } from "../submission/task-quota.ts";
import { releaseDelegationBudget } from "../submission/delegation-budget.ts";
import { archiveReceipt } from "./receipt-store.ts";
import { finishTask } from "../store.ts";

/** A verified receipt with its hash and origin. */
export interface VerifiedReceipt {
  readonly receipt: ExecutionReceipt;
  readonly hash: string;
  /** The receipt as it arrived. */
  readonly text: string;
  /**
   * The origin and the key of the receipt: without a registered key neither money nor trust moves.
   */
  readonly endedBy: EndedBy;
  /** The key that signed; undefined if the relay knows no key of the agent. */
  readonly publicKey: string | undefined;
}

/** The changes that one receipt made. */
export interface CompletedTask {
  readonly ok: true;
  readonly task: TaskRow;
  readonly settlement: NewSettlement | undefined;
  readonly reputationUpdate: ReputationUpdate;
}

/**
 * Ends a task, as the caller read it, with its receipt: state, archive, money, trust and
 * credentials, in the caller's transaction.
 */
export async function completeTask(
  tx: Tx,
  services: IssuerDependencies & Pick<Services, "config" | "subscriptions">,
  task: TaskRow,
  { receipt, hash, text, endedBy, publicKey }: VerifiedReceipt,
  settleTask: typeof settleFromHold = settleFromHold,
): Promise<CompletedTask | PostRefusal | Refusal<"task.already_finished">> {
  const now = services.runtime.now();
  const isKeyKnown = endedBy.kind === "peer" || endedBy.isKeyRegistered;
  const finished = await finishTask(tx, task, {
    status: receipt.status,
    receipt_hash: hash,
    executor: receipt.agent_id,
    endedBy,
    now,
  });
  if (!finished) return refuse("task.already_finished");
  const duration_ms = now - task.submitted_at;
  await recordTaskEvent(tx, task, { type: receipt.status, at: now, duration_ms });
  const archived = { task_id: task.task_id, receipt_hash: hash, agent_id: receipt.agent_id };
  const nested = listNestedSignatures(receipt);
  await archiveReceipt(tx, { ...archived, body: text, received_at: now }, nested);
  const logged = { agentId: receipt.agent_id, publicKey, ref: task.task_id, artifactHash: hash };
  await appendLog(tx, buildLogEntry({ kind: "receipt", time: now, ...logged }));
  // Between relays money moves when both have recorded the settlement, not with the receipt.
  const settleReceipt =
    settleTask === settleFromHold && isFromPeer(task) ? finishInboundTask : settleTask;
  const settled = await settleReceipt(tx, services, task, {
    receiptHash: hash,
    payeeId: receipt.agent_id,
    status: isKeyKnown ? receipt.status : "failed",
  });
  if (!settled.ok) return settled;
  await releaseDelegationBudget(tx, task, settled.settlement?.amount_settled);
  await releaseTaskSlot(tx, task.submitted_by);
  const { settlement } = settled;
  const isNamesake = endedBy.kind === "peer" && (await isExecutedByNamesake(tx, task.task_id));
  if (!isNamesake) await updateLastSeen(tx, receipt.agent_id, now);
  const reputationUpdate =
    isKeyKnown && !isNamesake
      ? await recordTaskOutcome(tx, services, task, {
          executorId: receipt.agent_id,
          status: receipt.status,
          settlement,
        })
      : noReputationUpdate;
  const { agent_id: executorId, status } = receipt;
  const { credentials } = reputationUpdate;
  await enqueueTaskEnded(tx, services, task, { executorId, status, settlement, credentials });
  return { ok: true, task, settlement, reputationUpdate };
}

const noReputationUpdate: ReputationUpdate = { trust: undefined, credentials: [] };
