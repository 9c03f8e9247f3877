import { type InspectionOutcome, splitFee, type Micro } from "@agent/budget";
import { getInspectedStatus } from "@agent/routing-semiring";
import type { IssuerDependencies } from "../credentials/issue.ts";
import { issueForTask } from "../credentials/issue-for-task.ts";
import type { Services } from "../services.ts";
import type { Tx } from "../storage/storage.ts";
import type { InspectionRow } from "../storage/tables/inspections.ts";
import type { ReputationUpdate } from "../tasks/receipts/record-task-outcome.ts";
import { recordTrustOutcome } from "../trust/record-trust-outcome.ts";
import { parseTerms } from "./terms.ts";

export type OutcomeServices = IssuerDependencies & Pick<Services, "config">;

/** A close as its parties' reputation depends on it; amounts in micro-units. */
interface PaidInspection {
  readonly row: InspectionRow;
  readonly outcome: InspectionOutcome;
  readonly paid: number;
  readonly platformFee: number;
  /** Whether card money that is not released was in the hold. */
  readonly hasCardMoney: boolean;
  readonly price: Micro;
  /** From the submission to the receipt, because the inspection is not the executor's time. */
  readonly latencyMs: number;
}

/**
 * Counts a closed inspection for its executor, and issues the credentials that follow from it. One between
 * agents that count as one changes nothing.
 */
export async function recordInspectionOutcome(
  tx: Tx,
  services: OutcomeServices,
  { row, outcome, paid, platformFee, hasCardMoney, price, latencyMs }: PaidInspection,
): Promise<ReputationUpdate> {
  if (row.counted === 0) return { trust: undefined, credentials: [] };
  const { task_id: taskId, submitter_id: delegatorId, executor_id: executorId } = row;
  const { result, share } = outcome;
  const status = getInspectedStatus({ result, share, paid, due: row.due, price });
  const parties = { delegatorId, executorId, status };
  const trust = await recordTrustOutcome(tx, {
    ...parties,
    latencyMs,
    priced: true,
    // A success counts with the fee that was kept; anything else with the fee for the price.
    fee: status === "completed" ? platformFee : getFeeOfPrice(price, row),
    hasCardMoney,
    now: services.runtime.now(),
  });
  const credentials = await issueForTask(tx, services, { ...parties, taskId, trust });
  return { trust, credentials };
}

function getFeeOfPrice(price: Micro, row: InspectionRow): number {
  return splitFee(price, parseTerms(row).platform_fee_rate).fee;
}
