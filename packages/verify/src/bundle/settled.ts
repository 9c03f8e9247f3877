import { verifySettlementRecord } from "@agent/receipts";
import type { ArtifactRefusal } from "../refusals.ts";
import { hashOfReceipt } from "./hash-of-receipt.ts";
import type { EvidenceBundle, Posting } from "./schema.ts";

/** The first rule of money that a bundle breaks; undefined when it breaks none. */
export function faultOfMoney(
  bundle: EvidenceBundle,
  relayKeys: readonly string[],
): ArtifactRefusal | undefined {
  const { task, receipt, settlements, postings } = bundle;
  const hash = hashOfReceipt(bundle);
  for (const record of settlements) {
    const verdict = verifySettlementRecord(record, { relayKeys });
    if (!verdict.valid) return verdict.code;
    const isOfTask =
      record.task_id === task.task_id &&
      record.receipt_hash === hash &&
      record.payer_id === task.submitted_by &&
      record.payee_id === receipt.agent_id &&
      micro(record.amount_settled) === micro(record.fee) + micro(record.net);
    if (!isOfTask) return "bundle.settlement_mismatch";
  }
  const paid = (member: "amount_settled" | "fee" | "net") =>
    settlements.reduce((sum, record) => sum + micro(record[member]), 0);
  const charges = postings.filter(({ type }) => CHARGES.includes(type));
  const agrees =
    sumOf(postings) === 0 &&
    sumOf(charges.filter(({ amount }) => amount < 0)) === -paid("amount_settled") &&
    received(charges, "settlement_credit") === paid("net") &&
    received(charges, "fee") === paid("fee");
  return agrees ? undefined : "bundle.postings_mismatch";
}

/** What a charge is made of; a release only returns what was held. */
const CHARGES = ["settlement_debit", "settlement_credit", "fee"];

/** An agent's task is charged to its account, another relay's is paid out of its hold. */
function received(postings: readonly Posting[], type: string): number {
  return sumOf(postings.filter((posting) => posting.type === type && posting.amount > 0));
}

function sumOf(postings: readonly Posting[]): number {
  return postings.reduce((sum, { amount }) => sum + micro(amount), 0);
}

/** Millionths, which add up exactly. */
function micro(amount: number): number {
  return Math.round(amount * 1e6);
}
