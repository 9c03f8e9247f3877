import { decideInspection, toMillionths } from "@agent/budget";
import {
  type DecisionRecord,
  DecisionRecordSchema,
  hashInspectionStatement,
  signDecisionRecord,
  verifyDecisionRecord,
} from "@agent/receipts";
import { OperatorDecision, refuse, type Answer, type Operations, type Refusal } from "@agent/wire";
import * as v from "valibot";
import { mayActFor, type Caller } from "../../identity/caller.ts";
import type { Services } from "../../services.ts";
import type { Tx } from "../../storage/storage.ts";
import type { InspectionRow } from "../../storage/tables/inspections.ts";
import { toInspection } from "../current-state.ts";
import { findReadableInspection } from "../reading/find-readable.ts";
import { moveInspection, type MoveServices } from "../move.ts";
import { parseTerms, toLengths } from "../terms.ts";
import { takeStatement, type GivenStatement } from "./take-statement.ts";
import {
  checkSubject,
  checkTimestamp,
  checkStatementForm,
  type VerifiedStatement,
  verifyInForce,
} from "./verify-statement.ts";

/**
 * Takes the decision of the arbiter in charge. The operator's own has only a share and a reason, and the
 * relay signs it.
 */
export async function decideDispute(
  services: MoveServices,
  { value, saveResponse, ...path }: GivenStatement,
): Promise<Answer<Operations["decideDispute"]>> {
  const own = readOwnDecision(path.caller, value);
  const formed =
    own === undefined ? checkStatementForm(DecisionRecordSchema, value) : { ok: true as const };
  if (!formed.ok) return formed;
  const found = await findReadableInspection(services, path);
  if (!found.ok) return found;
  const statement =
    own === undefined ? (value as DecisionRecord) : signOwn(services, found.row, own);
  const checked = await checkDecision(services, found.row, statement, path.caller);
  if (!checked.ok) return checked;
  return takeStatement(services, {
    taskId: path.taskId,
    verified: checked.verified,
    saveResponse,
    isTaken: (row) => hasStatement(row, statement),
    apply: (tx, row) => applyDecision(tx, services, row, statement),
  });
}

/** Only the operator decides without a signed statement. */
function readOwnDecision(caller: Caller, value: unknown): OperatorDecision | undefined {
  if (caller.kind !== "master") return undefined;
  const read = v.safeParse(OperatorDecision, value);
  return read.success ? read.output : undefined;
}

function signOwn(
  { identity, runtime }: Pick<Services, "identity" | "runtime">,
  { task_id, receipt_hash }: InspectionRow,
  { share, reason }: OperatorDecision,
): DecisionRecord {
  const body = { task_id, receipt_hash, arbiter_id: identity.relayId, share, reason };
  return signDecisionRecord({ ...body, timestamp: runtime.now() }, identity.secretKey);
}

async function checkDecision(
  { storage, identity }: MoveServices,
  row: InspectionRow,
  statement: DecisionRecord,
  caller: Caller,
): Promise<
  | { readonly ok: true; readonly verified: VerifiedStatement }
  | Refusal<"inspection.not_party" | "inspection.receipt_mismatch" | "inspection.signature_invalid">
> {
  const { arbiter_id: signerId } = statement;
  const isOperators = signerId === identity.relayId;
  const mayDecide = isOperators || [row.arbiter_id, parseTerms(row).arbiter_id].includes(signerId);
  if (!mayDecide || !mayActFor(caller, [isOperators ? null : signerId])) {
    return refuse("inspection.not_party");
  }
  const mismatch = checkSubject(statement, row);
  if (mismatch !== undefined) return mismatch;
  const isSigned = (publicKeys: readonly string[]) =>
    verifyDecisionRecord(statement, { signerId, publicKeys }).valid;
  const verified = isOperators
    ? isSigned([identity.publicKey]) && { isInForce: () => Promise.resolve(true) }
    : await verifyInForce(storage.read, signerId, isSigned);
  return verified ? { ok: true, verified } : refuse("inspection.signature_invalid");
}

function hasStatement({ decision }: InspectionRow, statement: DecisionRecord): boolean {
  if (decision === null) return false;
  return (
    hashInspectionStatement(JSON.parse(decision) as DecisionRecord) ===
    hashInspectionStatement(statement)
  );
}

async function applyDecision(
  tx: Tx,
  services: MoveServices,
  row: InspectionRow,
  statement: DecisionRecord,
) {
  const { runtime, identity } = services;
  const now = runtime.now();
  const untimely = checkTimestamp(statement, now);
  if (untimely !== undefined) return untimely;
  const by = statement.arbiter_id === identity.relayId ? "operator" : "agent";
  const decided = decideInspection(
    toInspection(row, identity),
    { type: "decided", share: toMillionths(statement.share), by },
    toLengths(parseTerms(row)),
    now,
  );
  if (!decided.ok) return refuse(decided.code);
  return moveInspection(tx, services, row, decided.inspection, { decision: statement });
}
