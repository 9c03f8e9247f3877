import { decideInspection, toMillionths } from "@agent/budget";
import {
  type DecisionRecord,
  DecisionRecordSchema,
  hashInspectionStatement,
  signDecisionRecord,
  verifyDecisionRecord,
} from "@agent/receipts";
import {
  OperatorDecision,
  operations,
  refuse,
  type Answer,
  type Operations,
  type Refusal,
} from "@agent/wire";
import * as v from "valibot";
import { validate } from "../../http/server/validate.ts";
import { mayActFor, type Caller } from "../../identity/caller.ts";
import type { Services } from "../../services.ts";
import type { Tx } from "../../storage/storage.ts";
import type { InspectionRow } from "../../storage/tables/inspections.ts";
import { toInspection } from "../current-state.ts";
import { findReadableInspection } from "../reading/find-readable.ts";
import { moveInspection, type MoveServices } from "../move.ts";
import { parseLengths, parseTerms } from "../terms.ts";
import { receiveStatement, type GivenStatement } from "./receive-statement.ts";
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
  const operatorDecision = readOperatorDecision(path.caller, value);
  const formed =
    operatorDecision === undefined ? checkDecisionForm(path.caller, value) : { ok: true as const };
  if (!formed.ok) return formed;
  const found = await findReadableInspection(services, path);
  if (!found.ok) return found;
  const statement =
    operatorDecision === undefined
      ? (value as DecisionRecord)
      : signForOperator(services, found.row, operatorDecision);
  const checked = await checkDecision(services, found.row, statement, path.caller);
  if (!checked.ok) return checked;
  return receiveStatement(services, {
    taskId: path.taskId,
    verified: checked.verified,
    saveResponse,
    isRecorded: (row) => hasStatement(row, statement),
    apply: (tx, row) => applyDecision(tx, services, row, statement),
  });
}

/** The operator may use either of two forms, and gets the errors of the one that was meant. */
function checkDecisionForm(caller: Caller, value: unknown): ReturnType<typeof checkStatementForm> {
  const { body } = operations.decideDispute;
  const valid = validate(caller.kind === "master" ? body : DecisionRecordSchema, value);
  return valid.ok ? checkStatementForm(DecisionRecordSchema, value) : valid;
}

/** Only the operator decides without a signed statement. */
function readOperatorDecision(caller: Caller, value: unknown): OperatorDecision | undefined {
  if (caller.kind !== "master") return undefined;
  const read = v.safeParse(OperatorDecision, value);
  return read.success ? read.output : undefined;
}

function signForOperator(
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
  const isByOperator = signerId === identity.relayId;
  const mayDecide = isByOperator || [row.arbiter_id, parseTerms(row).arbiter_id].includes(signerId);
  if (!mayDecide || !mayActFor(caller, [isByOperator ? null : signerId])) {
    return refuse("inspection.not_party");
  }
  const mismatch = checkSubject(statement, row);
  if (mismatch !== undefined) return mismatch;
  const isSigned = (publicKeys: readonly string[]) =>
    verifyDecisionRecord(statement, { signerId, publicKeys }).valid;
  const verified = isByOperator
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
    parseLengths(row),
    now,
  );
  if (!decided.ok) return refuse(decided.code);
  return moveInspection(tx, services, row, decided.inspection, { decision: statement });
}
