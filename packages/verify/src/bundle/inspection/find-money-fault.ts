import {
  accountOf,
  buildHoldPostings,
  computeArbitrationFee,
  fromMicro,
  type InspectionOutcome,
  type InspectionSettlement,
  type Micro,
  type Posting,
  settleInspection,
  toMicro,
} from "@agent/budget";
import { hashOutcomeRecord } from "@agent/receipts";
import type { ArtifactRefusal } from "../../refusals.ts";
import { areAmountsExact, type BundlePosting } from "../posting-schema.ts";
import type { EvidenceBundle } from "../schema.ts";
import type { BundleInspection } from "./schema.ts";

/**
 * Recomputes the settlement of an inspection with this outcome and returns the code of the first difference: the
 * arbitration fee (`bundle.inspection_mismatch`), the record (`bundle.settlement_mismatch`) or the movements
 * (`bundle.postings_mismatch`).
 */
export function findMoneyFault(
  bundle: EvidenceBundle,
  inspection: BundleInspection,
  ended: InspectionOutcome | null,
): ArtifactRefusal | undefined {
  const { terms, postings } = inspection;
  if (!areAmountsExact([...bundle.postings, ...postings])) return "bundle.postings_mismatch";
  const [due, fee] = [toMicro(inspection.due), toMicro(inspection.fee)];
  const rate = { feeRate: terms.fee_rate, feeMin: toMicro(terms.fee_min) };
  if (computeArbitrationFee(due, rate) !== fee) return "bundle.inspection_mismatch";
  const disputeId = findDisputeId(bundle, inspection);
  const bond = buildHoldPostings({
    payerId: bundle.receipt.agent_id,
    taskId: disputeId,
    amount: isContested(inspection) ? fee : toMicro(0),
  });
  if (ended === null) {
    if (bundle.settlements.length > 0) return "bundle.settlement_mismatch";
    const isMoved = bundle.postings.length === 0 && matchesMovements(bundle, inspection, bond);
    return isMoved ? undefined : "bundle.postings_mismatch";
  }
  const possible = listArbiters(bundle, inspection).map((arbiterId) =>
    settleAgain(bundle, inspection, { due, fee, disputeId, arbiterId, outcome: ended }),
  );
  if (!possible.some((settled) => matchesRecord(bundle, inspection, settled))) {
    return "bundle.settlement_mismatch";
  }
  const isMoved = possible.some(
    ({ settlementPostings, disputePostings }) =>
      subtractPostings(bundle.postings, settlementPostings)?.length === 0 &&
      matchesMovements(bundle, inspection, [...bond, ...disputePostings]),
  );
  return isMoved ? undefined : "bundle.postings_mismatch";
}

function isContested({ verdicts }: BundleInspection): boolean {
  return verdicts.some(({ verdict }) => verdict === "contested");
}

/** The bond is the only hold that is not the task's; the relay chooses its name. */
function findDisputeId({ task }: EvidenceBundle, { postings }: BundleInspection): string {
  const accounts = postings.map(({ account }) => account);
  const isBond = (account: string) =>
    account.startsWith("held:") && account !== accountOf.held(task.task_id);
  return accounts.find(isBond)?.slice("held:".length) ?? "";
}

/**
 * Lists the arbiters that may have been in charge at the end, null for the operator. Without a decision
 * only the postings show whether the operator had taken over the case.
 */
function listArbiters(
  { relay_id }: EvidenceBundle,
  { terms, decision }: BundleInspection,
): readonly (string | null)[] {
  const ids = decision === null ? [relay_id, terms.arbiter_id] : [decision.arbiter_id];
  return ids.map((id) => (id === relay_id ? null : id));
}

interface Parts {
  readonly due: Micro;
  readonly fee: Micro;
  readonly disputeId: string;
  readonly arbiterId: string | null;
  readonly outcome: InspectionOutcome;
}

function settleAgain(
  { task, receipt, settlements }: EvidenceBundle,
  inspection: BundleInspection,
  parts: Parts,
): InspectionSettlement {
  return settleInspection({
    ...parts,
    taskId: task.task_id,
    payerId: task.submitted_by ?? "",
    payeeId: receipt.agent_id,
    // Whether the amount due is the whole price follows from a ledger, which is not in the bundle.
    dueStatus: settlements[0]?.status === "partial" ? "partial" : "completed",
    bond: isContested(inspection) ? parts.fee : toMicro(0),
    platformFeeRate: inspection.terms.platform_fee_rate,
  });
}

function matchesRecord(
  { settlements }: EvidenceBundle,
  { outcome }: BundleInspection,
  { status, paid, platformFee, net }: InspectionSettlement,
): boolean {
  const [record, ...others] = settlements;
  return (
    record !== undefined &&
    outcome !== null &&
    others.length === 0 &&
    record.outcome_hash === hashOutcomeRecord(outcome) &&
    record.status === status &&
    toMicro(record.amount_settled) === paid &&
    toMicro(record.fee) === platformFee &&
    toMicro(record.net) === net
  );
}

/**
 * Besides the expected movements, only the part of the hold that was returned on the receipt's arrival is
 * allowed.
 */
function matchesMovements(
  { task }: EvidenceBundle,
  { postings }: BundleInspection,
  expected: readonly Posting[],
): boolean {
  const rest = subtractPostings(postings, expected);
  if (rest === null) return false;
  if (rest.length === 0) return true;
  const [from, to, ...others] = rest.toSorted((one, other) => one.amount - other.amount);
  return (
    others.length === 0 &&
    from?.account === accountOf.held(task.task_id) &&
    to?.account === accountOf.agent(task.submitted_by ?? "") &&
    rest.every(({ type }) => type === "allocation_release") &&
    from.amount === -to.amount
  );
}

/** Returns the postings that are not among the expected ones; null if an expected one is missing. */
function subtractPostings(
  postings: readonly BundlePosting[],
  expected: readonly Posting[],
): readonly BundlePosting[] | null {
  const rest = [...postings];
  for (const { account, type, amount } of expected) {
    const index = rest.findIndex(
      (posting) =>
        posting.account === account &&
        posting.type === type &&
        posting.amount === fromMicro(amount),
    );
    if (index === -1) return null;
    rest.splice(index, 1);
  }
  return rest;
}
