import { asMicro, fromMicro } from "@agent/budget";
import type { Services } from "../services.ts";
import type { Tx } from "../storage/storage.ts";
import type { NewSettlement } from "../storage/tables/budget.ts";
import type { TaskRow } from "../storage/tables/tasks.ts";
import { executorOf, isAbroad } from "../tasks/view.ts";
import { tell } from "./tell.ts";

type Parts = Pick<Services, "runtime" | "subscriptions">;

/** A task has come to an executor; one at another relay is told of it there. */
export function tellOfAssignment(tx: Tx, services: Parts, task: TaskRow): Promise<void> {
  const { task_id, agent_id, submitted_by, expires_at } = task;
  const executor = executorOf(task);
  const data = { task_id, agent_id, assigned_to: executor, submitted_by, expires_at };
  return tell(tx, services, [isAbroad(task) ? null : executor], { type: "task.assigned", data });
}

/** How a task ended, and what came of it. */
export interface Ended {
  readonly executorId: string;
  readonly status: "completed" | "failed" | "denied";
  readonly settlement: NewSettlement | undefined;
  readonly credentials: readonly Issued[];
}

interface Issued {
  readonly agent_id: string;
  readonly credential_id: string;
  readonly type: string;
}

/** A receipt has ended a task: its parties, payer and payee, and whom a credential is about. */
export async function tellOfEnd(
  tx: Tx,
  services: Parts,
  task: TaskRow,
  { executorId, status, settlement, credentials }: Ended,
): Promise<void> {
  const { task_id, agent_id, submitted_by } = task;
  const type = status === "completed" ? "task.completed" : "task.failed";
  const data = { task_id, agent_id, submitted_by, executed_by: executorId, status };
  await tell(tx, services, [submitted_by, isAbroad(task) ? null : executorId], { type, data });
  if (settlement !== undefined) {
    const { settlement_id, payer_id, payee_id, amount_settled, fee, net } = settlement;
    await tell(tx, services, [payer_id, payee_id], {
      type: "settlement.created",
      data: {
        settlement_id,
        task_id,
        payer_id,
        payee_id,
        status: settlement.status,
        amount_settled: dollars(amount_settled),
        fee: dollars(fee),
        net: dollars(net),
      },
    });
  }
  await tellOfCredentials(tx, services, task_id, credentials);
}

/** What the relay issued for a task: told to whom it is about. */
export async function tellOfCredentials(
  tx: Tx,
  services: Parts,
  task_id: string,
  credentials: readonly Issued[],
): Promise<void> {
  for (const { agent_id: subject, credential_id, type: kind } of credentials) {
    await tell(tx, services, [subject], {
      type: "credential.issued",
      data: { credential_id, type: kind, agent_id: subject, task_id },
    });
  }
}

const dollars = (micro: number) => fromMicro(asMicro(micro));
