import type { EndedBy } from "@agent/federation-protocol/forwarding";
import { listNestedSignatures, type ExecutionReceipt } from "@agent/receipts";
import { buildLogEntry } from "@agent/transparency";
import { refuse, type Refusal } from "@agent/wire";
import { updateLastSeen } from "../../agents/store.ts";
import { settleFromHold } from "../../budget/settle-from-hold.ts";
import type { PostRefusal } from "../../budget/post-movement.ts";
import type { IssuerDependencies } from "../../credentials/issue.ts";
import { calculateElapsed } from "../../clock/calculate-elapsed.ts";
import { beginInspection } from "../../inspections/begin.ts";
import { finishInboundTask } from "../../federation/inbound/finish-inbound-task.ts";
import { isExecutedByNamesake } from "../../federation/is-executed-by-namesake.ts";
import { isFromPeer } from "../../federation/peer-ref.ts";
import { appendLog } from "../../log/entries/append.ts";
import type { Services } from "../../services.ts";
import type { Tx } from "../../storage/storage.ts";
import type { SettlementRow } from "../../storage/tables/budget.ts";
import type { InspectionRow } from "../../storage/tables/inspections.ts";
import type { TaskRow } from "../../storage/tables/tasks.ts";
import { enqueueTaskEnded } from "../../webhooks/enqueue-task-webhooks.ts";
import { recordTaskEvent } from "../events/record-task-event.ts";
import { recordTaskOutcome, type ReputationUpdate } from "./record-task-outcome.ts";
import { releaseTaskSlot } from "../submission/task-quota.ts";
import { releaseDelegationBudget } from "../submission/delegation-budget.ts";
import { archiveReceipt } from "./receipt-store.ts";
import { finishTask } from "./finish-store.ts";

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
  readonly settlement: SettlementRow | undefined;
  readonly reputationUpdate: ReputationUpdate;
  /** The inspection that began, before which neither money nor trust moves. */
  readonly inspection: InspectionRow | undefined;
}

type CompleteServices = IssuerDependencies & Pick<Services, "config" | "subscriptions">;

/**
 * Ends a task, as the caller read it, with its receipt, in the caller's transaction: state, archive, money,
 * trust and credentials. The last three wait if its submitter inspects the result first.
 */
export async function completeTask(
  tx: Tx,
  services: CompleteServices,
  task: TaskRow,
  verified: VerifiedReceipt,
  settleTask?: typeof settleFromHold,
): Promise<CompletedTask | PostRefusal | Refusal<"task.already_finished">> {
  const { receipt, hash: receiptHash, endedBy } = verified;
  const { agent_id: executorId, status } = receipt;
  if (!(await endTask(tx, services, task, verified))) return refuse("task.already_finished");
  const isKeyKnown = endedBy.kind === "peer" || endedBy.isKeyRegistered;
  const isNamesake = endedBy.kind === "peer" && (await isExecutedByNamesake(tx, task.task_id));
  if (!isNamesake) await updateLastSeen(tx, executorId, services.runtime.now());
  await releaseTaskSlot(tx, task.submitted_by);
  const inspection =
    status === "completed" && isKeyKnown
      ? await beginInspection(tx, services, task, { receiptHash, executorId })
      : undefined;
  const settled =
    inspection === undefined
      ? await settleEndedTask(tx, services, task, { verified, isKeyKnown, isNamesake, settleTask })
      : unsettled;
  if (!settled.ok) return settled;
  const { settlement, reputationUpdate } = settled;
  const { credentials } = reputationUpdate;
  await enqueueTaskEnded(tx, services, task, { executorId, status, settlement, credentials });
  return { ok: true, task, settlement, reputationUpdate, inspection };
}

/** Ends and archives; false if the task has ended before. */
async function endTask(
  tx: Tx,
  { runtime }: Pick<Services, "runtime">,
  task: TaskRow,
  { receipt, hash, text, endedBy, publicKey }: VerifiedReceipt,
): Promise<boolean> {
  const now = runtime.now();
  const finished = await finishTask(tx, task, {
    status: receipt.status,
    receipt_hash: hash,
    executor: receipt.agent_id,
    endedBy,
    now,
  });
  if (!finished) return false;
  const duration_ms = calculateElapsed(task.submitted_at, now);
  await recordTaskEvent(tx, task, { type: receipt.status, at: now, duration_ms });
  const archived = { task_id: task.task_id, receipt_hash: hash, agent_id: receipt.agent_id };
  const nested = listNestedSignatures(receipt);
  await archiveReceipt(tx, { ...archived, body: text, received_at: now }, nested);
  const logged = { agentId: receipt.agent_id, publicKey, ref: task.task_id, artifactHash: hash };
  await appendLog(tx, () => buildLogEntry({ kind: "receipt", time: now, ...logged }));
  return true;
}

interface EndedTask {
  readonly verified: VerifiedReceipt;
  readonly isKeyKnown: boolean;
  readonly isNamesake: boolean;
  /** Settles a task that a peer executed; undefined for a task that was executed here. */
  readonly settleTask: typeof settleFromHold | undefined;
}

/** Settles an ended task at once, and counts its outcome. */
async function settleEndedTask(
  tx: Tx,
  services: CompleteServices,
  task: TaskRow,
  { verified: { receipt, hash }, isKeyKnown, isNamesake, settleTask }: EndedTask,
): Promise<SettledTask | PostRefusal> {
  const { agent_id: executorId, status } = receipt;
  // Between relays money moves when both have recorded the settlement, not with the receipt.
  const settleReceipt: typeof settleFromHold =
    settleTask ?? (isFromPeer(task) ? finishInboundTask : settleFromHold);
  const settled = await settleReceipt(tx, services, task, {
    receiptHash: hash,
    payeeId: executorId,
    status: isKeyKnown ? status : "failed",
  });
  if (!settled.ok) return settled;
  const { settlement } = settled;
  await releaseDelegationBudget(tx, task, settlement?.amount_settled);
  const reputationUpdate =
    isKeyKnown && !isNamesake
      ? await recordTaskOutcome(tx, services, task, {
          executorId,
          status,
          settlement,
          hasCardMoney: settled.movesCardMoney,
        })
      : noReputationUpdate;
  return { ok: true, settlement, reputationUpdate };
}

type SettledTask = Pick<CompletedTask, "ok" | "settlement" | "reputationUpdate">;

const noReputationUpdate: ReputationUpdate = { trust: undefined, credentials: [] };
const unsettled: SettledTask = {
  ok: true,
  settlement: undefined,
  reputationUpdate: noReputationUpdate,
};
