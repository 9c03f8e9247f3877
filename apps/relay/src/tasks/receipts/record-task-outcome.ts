import { splitFee, type ReceiptStatus } from "@agent/budget";
import { getCountedStatus } from "@agent/routing-semiring";
import type { IssuerDependencies } from "../../credentials/issue.ts";
import { issueForTask } from "../../credentials/issue-for-task.ts";
import type { NewCredential } from "../../credentials/store.ts";
import type { Services } from "../../services.ts";
import type { Tx } from "../../storage/storage.ts";
import type { SettlementRow } from "../../storage/tables/budget.ts";
import type { TaskRow } from "../../storage/tables/tasks.ts";
import { recordTrustOutcome, type RecordedOutcome } from "../../trust/record-trust-outcome.ts";

/** The changes that a task made to its executor's reputation. */
export interface ReputationUpdate {
  readonly trust: RecordedOutcome | undefined;
  readonly credentials: readonly NewCredential[];
}

/** The outcome of a task for its executor, and its settlement once that is decided. */
interface ExecutorOutcome {
  readonly executorId: string;
  readonly status: ReceiptStatus;
  readonly settlement?: SettlementRow | undefined;
  /** Whether card money that is not released was in the hold of the task. */
  readonly hasCardMoney?: boolean | undefined;
  /** Limits the effect to the pair of submitter and executor. */
  readonly pairOnly?: boolean;
}

/** Counts a task's outcome for its executor, and issues the credentials that follow from it. */
export async function recordTaskOutcome(
  tx: Tx,
  services: IssuerDependencies & Pick<Services, "config">,
  task: Pick<TaskRow, "task_id" | "submitted_by" | "submitted_at" | "allocation_id" | "charge">,
  {
    executorId,
    status: receipt,
    settlement,
    hasCardMoney = false,
    pairOnly = false,
  }: ExecutorOutcome,
): Promise<ReputationUpdate> {
  const now = services.runtime.now();
  const priced = task.allocation_id !== null;
  const status = getCountedStatus({
    receipt,
    priced,
    settlement: settlement && { status: settlement.status, amount: settlement.amount_settled },
  });
  const parties = { delegatorId: task.submitted_by, executorId, status };
  const trust = await recordTrustOutcome(tx, {
    ...parties,
    latencyMs: now - task.submitted_at,
    priced,
    fee: getTaskFee(task, services.config),
    hasCardMoney,
    pairOnly,
    now,
  });
  const credentials = await issueForTask(tx, services, { ...parties, taskId: task.task_id, trust });
  return { trust, credentials };
}

/** Returns the relay's fee of a task's charge, whatever the outcome, in micro-units; 0 for a free task. */
export function getTaskFee(
  { allocation_id, charge }: Pick<TaskRow, "allocation_id" | "charge">,
  { payments }: Pick<Services["config"], "payments">,
): number {
  return allocation_id === null ? 0 : splitFee(charge, payments.platformFeeRate).fee;
}

/** Updates the trust graph and logs credentials, once the outcome is durable. */
export function publishReputation(
  { log, trustGraph }: Pick<Services, "log" | "trustGraph">,
  taskId: string,
  { trust, credentials }: ReputationUpdate,
): void {
  if (trust !== undefined) trustGraph.update(trust.record);
  for (const { credential_id, type, agent_id } of credentials) {
    log.info("credential.issued", { correlationId: taskId, credential_id, type, agent_id });
  }
}
