import {
  filterKeysAt,
  hashInspectionWord,
  verifyDecisionRecord,
  verifyOutcomeRecord,
  verifyVerdictRecord,
} from "@agent/receipts";
import type { ArtifactRefusal } from "../../refusals.ts";
import { getReceiptHash } from "../get-receipt-hash.ts";
import { listAgentKeys } from "../key-lookup.ts";
import type { EvidenceBundle } from "../schema.ts";
import type { BundleInspection } from "./schema.ts";

/**
 * Verifies each word by a key that its speaker had at its timestamp, and that the outcome names exactly
 * these words. Returns the code of the first fault.
 */
export function findWordFault(
  bundle: EvidenceBundle,
  { verdicts, decision, outcome, terms }: BundleInspection,
  relayKeys: readonly string[],
): ArtifactRefusal | undefined {
  const { task, receipt, signers, relay_id } = bundle;
  const subject = { taskId: task.task_id, receiptHash: getReceiptHash(bundle) };
  const listKeysAt = (agentId: string, time: number) =>
    filterKeysAt(listAgentKeys(signers, agentId), time).map(({ public_key }) => public_key);
  for (const word of verdicts) {
    const isOfSubmitter = word.verdict === "accepted" || word.verdict === "rejected";
    const signerId = isOfSubmitter ? (task.submitted_by ?? "") : receipt.agent_id;
    const publicKeys = listKeysAt(signerId, word.timestamp);
    const { valid, code } = verifyVerdictRecord(word, { ...subject, signerId, publicKeys });
    if (!valid) return code;
  }
  if (decision !== null) {
    const isOfOperator = decision.arbiter_id === relay_id;
    const signerId = isOfOperator ? relay_id : terms.arbiter_id;
    const publicKeys = isOfOperator ? relayKeys : listKeysAt(signerId, decision.timestamp);
    const { valid, code } = verifyDecisionRecord(decision, { ...subject, signerId, publicKeys });
    if (!valid) return code;
  }
  if (outcome === null) return undefined;
  const { valid, code } = verifyOutcomeRecord(outcome, { ...subject, relayKeys });
  if (!valid) return code;
  const named = [...outcome.verdicts, outcome.decision];
  const given = [
    ...verdicts.map(hashInspectionWord),
    decision === null ? null : hashInspectionWord(decision),
  ];
  const isSame =
    named.length === given.length && named.every((hash, index) => hash === given[index]);
  return isSame ? undefined : "bundle.inspection_mismatch";
}
