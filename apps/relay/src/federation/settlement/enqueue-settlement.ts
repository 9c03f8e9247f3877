import { createOutgoingSettlement } from "@agent/federation-protocol/settlement";
import { recordRefund } from "../../budget/record-settlement.ts";
import { releaseHold } from "../../budget/reserve-hold.ts";
import type { SettledHold, SettlementInput } from "../../budget/settle-from-hold.ts";
import { findPaymentOfTask } from "../../budget/settlement-facts-store.ts";
import { newId } from "../../runtime.ts";
import type { Services } from "../../services.ts";
import type { Tx } from "../../storage/storage.ts";
import type { TaskRow } from "../../storage/tables/tasks.ts";
import { saveHold } from "./hold-store.ts";
import { findOutbound } from "../outbound/outbound-store.ts";
import { saveOutboxEntry } from "./outbox-store.ts";

/**
 * Stores the settlement for a task that a peer has executed. The payer is charged once the peer has
 * booked it; until then the money stays in the task's hold, and nothing is settled. Work that was not
 * completed is refunded at once, as for an agent of this relay.
 */
export async function enqueueSettlement(
  tx: Tx,
  services: Pick<Services, "runtime" | "identity">,
  task: Pick<TaskRow, "task_id" | "submitted_by" | "allocation_id" | "locked">,
  { receiptHash, payeeId, status }: SettlementInput,
): Promise<SettledHold> {
  const { runtime } = services;
  const { task_id, submitted_by: payerId, allocation_id: allocationId } = task;
  const done = { ok: true, settlement: undefined } as const;
  if (payerId === null || allocationId === null) return done;
  if (status !== "completed") {
    const movesCardMoney = await releaseHold(tx, runtime, task, status);
    const refund = { taskId: task_id, allocationId, receiptHash, payerId, payeeId };
    return { ...done, settlement: await recordRefund(tx, services, refund), movesCardMoney };
  }
  const outbound = await findOutbound(tx, task_id);
  if (outbound === undefined) throw new Error(`task ${task_id} was not sent to a peer`);
  const now = runtime.now();
  const settlement = createOutgoingSettlement(
    { ...outbound.task, receiptHash },
    {
      settlementId: newId(runtime),
      now,
      refundable: true,
      x402: await findPaymentOfTask(tx, task_id),
    },
  );
  const { locked } = task;
  await saveOutboxEntry(tx, {
    settlement,
    payerId,
    locked,
    allocationId,
    createdAt: now,
    endedAt: null,
    lastError: null,
    version: 0,
  });
  await saveHold(tx, { task_id, amount: locked });
  return done;
}
