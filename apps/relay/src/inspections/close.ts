import {
  asMicro,
  fromMillionths,
  type InspectionOutcome,
  type InspectionSettlement,
  settleInspection,
} from "@agent/budget";
import {
  type DecisionRecord,
  hashInspectionStatement,
  hashOutcomeRecord,
  type OutcomeRecord,
  signOutcomeRecord,
  type VerdictRecord,
} from "@agent/receipts";
import { entryOf } from "@agent/transparency";
import { postMovement, type PostedRow } from "../budget/post-movement.ts";
import { recordSettlement } from "../budget/record-settlement.ts";
import { appendLog } from "../log/entries/append.ts";
import { newId } from "../runtime.ts";
import type { Services } from "../services.ts";
import type { Tx } from "../storage/storage.ts";
import type { SettlementRow } from "../storage/tables/budget.ts";
import type { InspectionRow } from "../storage/tables/inspections.ts";
import { releaseDelegationBudget } from "../tasks/submission/delegation-budget.ts";
import type { ReputationUpdate } from "../tasks/receipts/record-task-outcome.ts";
import { findTask } from "../tasks/store.ts";
import { enqueueCredentialsIssued, enqueueSettled } from "../webhooks/enqueue-task-webhooks.ts";
import { recordInspectionOutcome, type OutcomeServices } from "./record-outcome.ts";
import { parseTerms } from "./terms.ts";

export type CloseServices = OutcomeServices & Pick<Services, "subscriptions">;

/** The effects of a close, to be published once they are durable. */
export interface ClosedInspection {
  readonly row: InspectionRow;
  readonly settlement: SettlementRow;
  readonly reputationUpdate: ReputationUpdate;
}

/**
 * Closes an inspection in the caller's transaction: signs and logs its outcome, moves its money, and counts
 * it for its parties. `row` has all statements of the inspection; it is returned as it must be stored. A close
 * is never refused, because money would stand still.
 */
export async function closeInspection(
  tx: Tx,
  services: CloseServices,
  row: InspectionRow,
  ended: InspectionOutcome,
): Promise<ClosedInspection> {
  const { runtime, identity } = services;
  const now = runtime.now();
  const task = await findTask(tx, row.task_id);
  if (task?.allocation_id == null || task.finished_at === null) {
    throw new Error(`task ${row.task_id} of an inspection is not stored`);
  }
  const outcome = buildOutcome(services, row, ended, now);
  await appendLog(tx, () => entryOf.outcome(outcome, { time: now, agentId: row.executor_id }));
  const settled = settleInspection({
    taskId: row.task_id,
    disputeId: row.dispute_id,
    payerId: row.submitter_id,
    payeeId: row.executor_id,
    arbiterId:
      row.contested_at === null || row.arbiter_id === identity.relayId ? null : row.arbiter_id,
    due: row.due,
    dueStatus: row.due_status,
    fee: row.fee,
    bond: row.bond,
    platformFeeRate: parseTerms(row).platform_fee_rate,
    outcome: ended,
  });
  const { arbitrationRows, settlementRows, movesCardMoney } = await postSettlement(
    tx,
    services,
    row,
    settled,
  );
  const settlement = await recordSettlement(
    tx,
    { identity },
    {
      taskId: row.task_id,
      settlementId: newId(runtime),
      allocationId: task.allocation_id,
      receiptHash: row.receipt_hash,
      ledgerHash: row.ledger_hash ?? undefined,
      terms: { gross: settled.paid, fee: settled.platformFee, net: settled.net },
      payerId: row.submitter_id,
      payeeId: row.executor_id,
      status: settled.status,
      settledAt: now,
      outcomeHash: hashOutcomeRecord(outcome),
    },
    settlementRows,
  );
  const held = { delegation_token: task.delegation_token, locked: asMicro(row.due + row.fee) };
  await releaseDelegationBudget(tx, held, settled.paid + settled.arbitration.submitter);
  const reputationUpdate = await recordInspectionOutcome(tx, services, {
    row,
    outcome: ended,
    paid: settled.paid,
    platformFee: settled.platformFee,
    hasCardMoney: movesCardMoney,
    price: task.charge,
    latencyMs: task.finished_at - task.submitted_at,
  });
  await enqueueSettled(tx, services, settlement);
  await enqueueCredentialsIssued(tx, services, row.task_id, reputationUpdate.credentials);
  const closed: InspectionRow = {
    ...row,
    state: "closed",
    deadline: null,
    outcome: JSON.stringify(outcome),
    share: ended.share,
    lost_by: ended.lostBy,
    postings: addPostings(row, arbitrationRows),
    closed_at: now,
  };
  return { row: closed, settlement, reputationUpdate };
}

function buildOutcome(
  { identity }: Pick<Services, "identity">,
  { task_id, receipt_hash, verdicts, decision }: InspectionRow,
  { result, share }: InspectionOutcome,
  now: number,
): OutcomeRecord {
  const statements = JSON.parse(verdicts) as VerdictRecord[];
  const ruling = decision === null ? null : (JSON.parse(decision) as DecisionRecord);
  return signOutcomeRecord(
    {
      task_id,
      receipt_hash,
      outcome: result,
      share: fromMillionths(share),
      verdicts: statements.map(hashInspectionStatement),
      decision: ruling === null ? null : hashInspectionStatement(ruling),
      closed_at: now,
      issuer: identity.did,
    },
    identity.secretKey,
  );
}

/** Books the bond and the arbitration fee first, because the settlement then returns the rest of the hold. */
async function postSettlement(
  tx: Tx,
  { runtime }: Pick<Services, "runtime">,
  { task_id, dispute_id }: InspectionRow,
  { disputePostings, settlementPostings, status }: InspectionSettlement,
): Promise<{
  readonly arbitrationRows: readonly PostedRow[];
  readonly settlementRows: readonly PostedRow[];
  readonly movesCardMoney: boolean;
}> {
  const post = async (
    postings: InspectionSettlement["disputePostings"],
    reference: string,
    description: string,
  ) => {
    const entry = { reference, description, ignoresLimit: true } as const;
    const posted = await postMovement(tx, runtime, postings, entry);
    if (!posted.ok) throw new Error(`inspection of task ${task_id} cannot be paid: ${posted.code}`);
    return posted;
  };
  // Other money left the hold with the arbitration fee first, so that its card money is in the settlement.
  const { rows: arbitrationRows } = await post(disputePostings, dispute_id, "arbitration");
  const settled = await post(settlementPostings, task_id, status);
  return { arbitrationRows, settlementRows: settled.rows, movesCardMoney: settled.movesCardMoney };
}

/** Adds the positions of further movements to those of an inspection. */
export function addPostings(
  { postings }: Pick<InspectionRow, "postings">,
  added: readonly PostedRow[],
): string {
  return JSON.stringify([...(JSON.parse(postings) as PostedRow[]), ...added]);
}
