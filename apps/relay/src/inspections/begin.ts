import {
  asMicro,
  buildReleasePostings,
  computeArbitrationFee,
  decideSettlement,
  openInspection,
  ZERO,
} from "@agent/budget";
import { postMovement } from "../budget/post-movement.ts";
import { findLedgerStepCount } from "../ledger/store.ts";
import { newId } from "../runtime.ts";
import type { Services } from "../services.ts";
import type { Tx } from "../storage/storage.ts";
import type { InspectionRow } from "../storage/tables/inspections.ts";
import type { TaskRow } from "../storage/tables/tasks.ts";
import { reduceDelegationUse } from "../tasks/submission/delegation-budget.ts";
import { areOneAgent } from "../trust/backing/are-one-agent.ts";
import { enqueueInspectionChanged } from "./notify.ts";
import { insertInspection } from "./store.ts";
import { parseTaskTerms, toArbitrationRate, toLengths } from "./terms.ts";

type BeginServices = Pick<Services, "runtime" | "identity" | "subscriptions">;

/**
 * Begins the inspection of a task that ended with a completed receipt: the amount due and its arbitration
 * fee stay held, and the rest of the hold is returned. Undefined if the task has no terms or nothing is
 * due; the task is then settled at once.
 */
export async function beginInspection(
  tx: Tx,
  services: BeginServices,
  task: TaskRow,
  { receiptHash, executorId }: { readonly receiptHash: string; readonly executorId: string },
): Promise<InspectionRow | undefined> {
  const { task_id, submitted_by: submitterId } = task;
  const terms = parseTaskTerms(task);
  if (terms === undefined || submitterId === null) return undefined;
  const ledger = await findLedgerStepCount(tx, { agent_id: executorId, goal_id: task_id });
  const { amount: due, status } = decideSettlement({
    receiptStatus: "completed",
    locked: task.locked,
    charge: task.charge,
    steps: ledger && { completed: ledger.steps_completed, total: ledger.steps_total },
    feeRate: terms.platform_fee_rate,
  });
  if (due === 0 || status === "refunded") return undefined;
  const now = services.runtime.now();
  const fee = computeArbitrationFee(due, toArbitrationRate(terms));
  const returned = asMicro(task.locked - due - fee);
  const postings = buildReleasePostings({
    payerId: submitterId,
    taskId: task_id,
    amount: returned,
  });
  const posted = await postMovement(tx, services.runtime, postings, {
    reference: task_id,
    description: "inspection",
    ignoresLimit: true,
  });
  if (!posted.ok) throw new Error(`hold of task ${task_id} cannot be released: ${posted.code}`);
  await reduceDelegationUse(tx, task, returned);
  const { state, deadline } = openInspection(toLengths(terms), now);
  const row: InspectionRow = {
    task_id,
    agent_id: task.agent_id,
    dispute_id: newId(services.runtime),
    state,
    terms: JSON.stringify(terms),
    submitter_id: submitterId,
    executor_id: executorId,
    arbiter_id: terms.arbiter_id,
    receipt_hash: receiptHash,
    ledger_hash: ledger?.content_hash ?? null,
    due,
    due_status: status,
    fee,
    bond: ZERO,
    offer: null,
    deadline,
    moved: 0,
    verdicts: "[]",
    decision: null,
    outcome: null,
    share: null,
    lost_by: null,
    postings: JSON.stringify(posted.rows),
    counted: (await areOneAgent(tx, submitterId, executorId)) ? 0 : 1,
    begun_at: now,
    contested_at: null,
    passed_by: null,
    passed_at: null,
    closed_at: null,
  };
  await insertInspection(tx, row);
  await enqueueInspectionChanged(tx, services, row);
  return row;
}
