import { verifySettlementRecord } from "@agent/receipts";
import type { ArtifactRefusal } from "../refusals.ts";
import { getReceiptHash } from "./get-receipt-hash.ts";
import { areAmountsExact, type BundlePosting, toMicroUnits } from "./posting-schema.ts";
import type { EvidenceBundle } from "./schema.ts";
import { type NarrowKeys, narrowRelayKeys } from "./try-limit.ts";

/** Returns the code of the first money rule that a bundle breaks; undefined if it breaks none. */
export function findSettlementFault(
  bundle: EvidenceBundle,
  relayKeys: readonly string[],
  narrow: NarrowKeys,
): ArtifactRefusal | undefined {
  const { task, receipt, settlements, postings } = bundle;
  // One log entry proves a record, however often the bundle lists it.
  const ids = new Set(settlements.map(({ settlement_id }) => settlement_id));
  if (ids.size < settlements.length) return "bundle.settlement_mismatch";
  const hash = getReceiptHash(bundle);
  for (const record of settlements) {
    const verdict = verifySettlementRecord(record, {
      relayKeys: narrowRelayKeys(record, relayKeys, narrow),
    });
    if (!verdict.valid) return verdict.code;
    const isOfTask =
      record.task_id === task.task_id &&
      record.receipt_hash === hash &&
      record.payer_id === task.submitted_by &&
      record.payee_id === receipt.agent_id &&
      toMicroUnits(record.amount_settled) === toMicroUnits(record.fee) + toMicroUnits(record.net);
    if (!isOfTask) return "bundle.settlement_mismatch";
  }
  const paid = (member: "amount_settled" | "fee" | "net") =>
    settlements.reduce((sum, record) => sum + toMicroUnits(record[member]), 0n);
  if (!areAmountsExact(postings)) return "bundle.postings_mismatch";
  const charges = postings.filter(({ type }) => chargeTypes.includes(type));
  const isBalanced =
    sumAmounts(postings) === 0n &&
    sumAmounts(charges.filter(({ amount }) => amount < 0)) === -paid("amount_settled") &&
    sumReceived(charges, "settlement_credit") === paid("net") &&
    sumReceived(charges, "fee") === paid("fee");
  return isBalanced ? undefined : "bundle.postings_mismatch";
}

/** The postings of a charge; a release only returns reserved money. */
const chargeTypes = ["settlement_debit", "settlement_credit", "fee"];

/**
 * A task of a local agent is charged to the agent's account; a task of another relay is paid from its hold.
 */
function sumReceived(postings: readonly BundlePosting[], type: string): bigint {
  return sumAmounts(postings.filter((posting) => posting.type === type && posting.amount > 0));
}

function sumAmounts(postings: readonly BundlePosting[]): bigint {
  return postings.reduce((sum, { amount }) => sum + toMicroUnits(amount), 0n);
}
