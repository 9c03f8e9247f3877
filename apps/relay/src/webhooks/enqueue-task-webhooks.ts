import { toDollars } from "@agent/budget";
import type { Services } from "../services.ts";
import type { Tx } from "../storage/storage.ts";
import type { SettlementRow } from "../storage/tables/budget.ts";
import type { TaskRow } from "../storage/tables/tasks.ts";
import { executorOf, isForwarded } from "../tasks/task.ts";
import { enqueueWebhook } from "./enqueue-webhook.ts";

type EnqueueDependencies = Pick<Services, "runtime" | "subscriptions">;

/** Enqueues the webhook for a routed task; an executor at another relay is notified there. */
export function enqueueTaskAssigned(
  tx: Tx,
  services: EnqueueDependencies,
  task: TaskRow,
): Promise<void> {
  const { task_id, agent_id, submitted_by, expires_at } = task;
  const executor = executorOf(task);
  const data = { task_id, agent_id, assigned_to: executor, submitted_by, expires_at };
  return enqueueWebhook(tx, services, [isForwarded(task) ? null : executor], {
    type: "task.assigned",
    data,
  });
}

/** The end of a task with its settlement and credentials. */
export interface FinishedTask {
  readonly executorId: string;
  readonly status: "completed" | "failed" | "denied";
  readonly settlement: SettlementRow | undefined;
  readonly credentials: readonly IssuedCredential[];
}

interface IssuedCredential {
  readonly agent_id: string;
  readonly credential_id: string;
  readonly type: string;
}

/** Enqueues webhooks for a task ended by a receipt: to its parties, payer, payee and credential subjects. */
export async function enqueueTaskEnded(
  tx: Tx,
  services: EnqueueDependencies,
  task: TaskRow,
  { executorId, status, settlement, credentials }: FinishedTask,
): Promise<void> {
  const { task_id, agent_id, submitted_by } = task;
  const type = status === "completed" ? "task.completed" : "task.failed";
  const data = { task_id, agent_id, submitted_by, executed_by: executorId, status };
  await enqueueWebhook(tx, services, [submitted_by, isForwarded(task) ? null : executorId], {
    type,
    data,
  });
  if (settlement !== undefined) {
    const { payer_id, payee_id } = settlement;
    const recipients = [payer_id, isForwarded(task) ? null : payee_id];
    await enqueueSettled(tx, services, settlement, recipients);
  }
  await enqueueCredentialsIssued(tx, services, task_id, credentials);
}

/**
 * Enqueues webhooks for a settlement, by default to its payer and its payee; an agent of another relay is
 * notified there.
 */
export function enqueueSettled(
  tx: Tx,
  services: EnqueueDependencies,
  settlement: SettlementRow,
  recipients: readonly (string | null)[] = [settlement.payer_id, settlement.payee_id],
): Promise<void> {
  const { settlement_id, task_id, payer_id, payee_id, status, amount_settled, fee, net } =
    settlement;
  return enqueueWebhook(tx, services, recipients, {
    type: "settlement.created",
    data: {
      settlement_id,
      task_id,
      payer_id,
      payee_id,
      status,
      amount_settled: toDollars(amount_settled),
      fee: toDollars(fee),
      net: toDollars(net),
    },
  });
}

/** Enqueues webhooks for credentials issued for a task, to their subjects. */
export async function enqueueCredentialsIssued(
  tx: Tx,
  services: EnqueueDependencies,
  task_id: string,
  credentials: readonly IssuedCredential[],
): Promise<void> {
  for (const { agent_id, credential_id, type: credentialType } of credentials) {
    await enqueueWebhook(tx, services, [agent_id], {
      type: "credential.issued",
      data: { credential_id, type: credentialType, agent_id, task_id },
    });
  }
}
