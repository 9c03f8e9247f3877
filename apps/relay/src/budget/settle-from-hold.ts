import { decideSettlement, buildSettlementPostings, type ReceiptStatus } from "@agent/budget";
import { findLedgerStepCount } from "../ledger/store.ts";
import { newId } from "../runtime.ts";
import type { Services } from "../services.ts";
import type { Tx } from "../storage/storage.ts";
import type { SettlementRow } from "../storage/tables/budget.ts";
import type { TaskRow } from "../storage/tables/tasks.ts";
import { postMovement, type PostRefusal } from "./post-movement.ts";
import { recordSettlement } from "./record-settlement.ts";

/** The facts of a verified receipt that the settlement depends on. */
export interface SettlementInput {
  readonly receiptHash: string;
  readonly payeeId: string;
  /** A receipt by a key unknown to the relay moves no money: it settles like a failed one. */
  readonly status: ReceiptStatus;
}

/** A settled hold with what it moved. */
export interface SettledHold {
  readonly ok: true;
  readonly settlement: SettlementRow | undefined;
  /** Whether card money that is not released was in the hold; absent if it is decided later. */
  readonly movesCardMoney?: boolean;
}

/** Pays for a task out of its hold and records it; a free task has nothing to settle. */
export async function settleFromHold(
  tx: Tx,
  { runtime, config, identity }: Pick<Services, "runtime" | "config" | "identity">,
  task: Pick<TaskRow, "task_id" | "submitted_by" | "charge" | "locked" | "allocation_id">,
  { receiptHash, payeeId, status }: SettlementInput,
): Promise<SettledHold | PostRefusal> {
  const { task_id, submitted_by: payerId, allocation_id } = task;
  if (payerId === null || allocation_id === null) return { ok: true, settlement: undefined };
  const locked = task.locked;
  const ledger = await findLedgerStepCount(tx, { agent_id: payeeId, goal_id: task_id });
  const decision = decideSettlement({
    receiptStatus: status,
    locked,
    charge: task.charge,
    steps: ledger && { completed: ledger.steps_completed, total: ledger.steps_total },
    feeRate: config.payments.platformFeeRate,
  });
  const posted = await postMovement(
    tx,
    runtime,
    buildSettlementPostings({
      payerId,
      payeeId,
      taskId: task_id,
      locked,
      charge: decision.amount,
      fee: decision.fee,
    }),
    { reference: task_id, description: decision.status },
  );
  if (!posted.ok) return posted;
  const settlement = await recordSettlement(
    tx,
    { identity },
    {
      taskId: task_id,
      settlementId: newId(runtime),
      allocationId: allocation_id,
      receiptHash,
      ledgerHash: ledger?.content_hash,
      terms: { gross: decision.amount, fee: decision.fee, net: decision.net },
      payerId,
      payeeId,
      status: decision.status,
      settledAt: runtime.now(),
    },
    posted.rows,
  );
  return { ok: true, settlement, movesCardMoney: posted.movesCardMoney };
}
