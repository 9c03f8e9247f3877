import {
  filterKeysAt,
  hashInspectionStatement,
  verifyDecisionRecord,
  verifyOutcomeRecord,
  verifyVerdictRecord,
} from "@agent/receipts";
import type { ArtifactRefusal } from "../../refusals.ts";
import { getReceiptHash } from "../get-receipt-hash.ts";
import { listAgentKeys } from "../key-lookup.ts";
import type { EvidenceBundle } from "../schema.ts";
import { type NarrowKeys, narrowRelayKeys } from "../try-limit.ts";
import type { BundleInspection } from "./schema.ts";

/**
 * Verifies that each statement is signed with a key that its signer had at the statement's timestamp, and
 * that the outcome names exactly these statements. Returns the code of the first fault.
 */
export function findStatementFault(
  bundle: EvidenceBundle,
  { verdicts, decision, outcome, terms }: BundleInspection,
  relayKeys: readonly string[],
  narrow: NarrowKeys,
): ArtifactRefusal | undefined {
  const { task, receipt, signers, relay_id } = bundle;
  const subject = { taskId: task.task_id, receiptHash: getReceiptHash(bundle) };
  const listKeysAt = (agentId: string, time: number) =>
    filterKeysAt(listAgentKeys(signers, agentId), time).map(({ public_key }) => public_key);
  for (const statement of verdicts) {
    const isOfSubmitter = statement.verdict === "accepted" || statement.verdict === "rejected";
    const signerId = isOfSubmitter ? (task.submitted_by ?? "") : receipt.agent_id;
    const publicKeys = narrow(statement, listKeysAt(signerId, statement.timestamp));
    const { valid, code } = verifyVerdictRecord(statement, { ...subject, signerId, publicKeys });
    if (!valid) return code;
  }
  if (decision !== null) {
    const isOfOperator = decision.arbiter_id === relay_id;
    const signerId = isOfOperator ? relay_id : terms.arbiter_id;
    const keys = isOfOperator ? relayKeys.toReversed() : listKeysAt(signerId, decision.timestamp);
    const publicKeys = narrow(decision, keys);
    const { valid, code } = verifyDecisionRecord(decision, { ...subject, signerId, publicKeys });
    if (!valid) return code;
  }
  if (outcome === null) return undefined;
  const { valid, code } = verifyOutcomeRecord(outcome, {
    ...subject,
    relayKeys: narrowRelayKeys(outcome, relayKeys, narrow),
  });
  if (!valid) return code;
  const named = [...outcome.verdicts, outcome.decision];
  const given = [
    ...verdicts.map(hashInspectionStatement),
    decision === null ? null : hashInspectionStatement(decision),
  ];
  const isSame =
    named.length === given.length && named.every((hash, index) => hash === given[index]);
  return isSame ? undefined : "bundle.inspection_mismatch";
}
