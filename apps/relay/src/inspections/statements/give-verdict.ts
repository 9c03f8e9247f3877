import { decideInspection, getLeastRival, toMillionths, type InspectionEvent } from "@agent/budget";
import {
  hashInspectionStatement,
  type VerdictRecord,
  VerdictRecordSchema,
  verifyVerdictRecord,
} from "@agent/receipts";
import { limits, refuse, type Answer, type Operations } from "@agent/wire";
import { mayActFor } from "../../identity/caller.ts";
import type { Tx } from "../../storage/storage.ts";
import type { InspectionRow } from "../../storage/tables/inspections.ts";
import { mayArbitrate } from "../acceptance/may-arbitrate.ts";
import { countOpenDisputes } from "../reading/count-store.ts";
import { toInspection } from "../current-state.ts";
import { findReadableInspection } from "../reading/find-readable.ts";
import { moveInspection, type MoveServices } from "../move.ts";
import { postBond } from "../post-bond.ts";
import { parseLengths } from "../terms.ts";
import { receiveStatement, type GivenStatement } from "./receive-statement.ts";
import {
  checkSubject,
  checkTimestamp,
  checkStatementForm,
  verifyInForce,
} from "./verify-statement.ts";

type GiveVerdict = Operations["giveVerdict"];

/** Takes the signed statement of a party about a result. */
export async function giveVerdict(
  services: MoveServices,
  { value, saveResponse, ...path }: GivenStatement,
): Promise<Answer<GiveVerdict>> {
  const formed = checkStatementForm(VerdictRecordSchema, value);
  if (!formed.ok) return formed;
  const statement = value as VerdictRecord;
  const found = await findReadableInspection(services, path);
  if (!found.ok) return found;
  const speakerId = getSpeaker(found.row, statement);
  if (statement.agent_id !== speakerId || !mayActFor(path.caller, [speakerId])) {
    return refuse("inspection.not_party");
  }
  const mismatch = checkSubject(statement, found.row);
  if (mismatch !== undefined) return mismatch;
  const verified = await verifyInForce(
    services.storage.read,
    speakerId,
    (publicKeys) => verifyVerdictRecord(value, { signerId: speakerId, publicKeys }).valid,
  );
  if (verified === undefined) return refuse("inspection.signature_invalid");
  return receiveStatement(services, {
    taskId: path.taskId,
    verified,
    saveResponse,
    isRecorded: (row) => hasStatement(row, statement),
    apply: (tx, row) => applyVerdict(tx, services, row, statement),
  });
}

function getSpeaker(
  { submitter_id, executor_id }: InspectionRow,
  { verdict }: VerdictRecord,
): string {
  return verdict === "accepted" || verdict === "rejected" ? submitter_id : executor_id;
}

function hasStatement({ verdicts }: InspectionRow, statement: VerdictRecord): boolean {
  const hash = hashInspectionStatement(statement);
  const statements = JSON.parse(verdicts) as VerdictRecord[];
  return statements.some((taken) => hashInspectionStatement(taken) === hash);
}

async function applyVerdict(
  tx: Tx,
  services: MoveServices,
  row: InspectionRow,
  statement: VerdictRecord,
) {
  const { runtime, identity } = services;
  const now = runtime.now();
  const untimely = checkTimestamp(statement, now);
  if (untimely !== undefined) return untimely;
  const event = await toEvent(tx, services, row, statement);
  const decided = decideInspection(toInspection(row, identity), event, parseLengths(row), now);
  if (!decided.ok) return refuse(decided.code);
  const isContest = statement.verdict === "contested";
  const bonded = isContest
    ? await postBond(tx, services, row)
    : { ok: true as const, bond: undefined };
  if (!bonded.ok) return bonded;
  const { bond } = bonded;
  return moveInspection(tx, services, row, decided.inspection, { verdict: statement, bond });
}

async function toEvent(
  tx: Tx,
  services: MoveServices,
  row: InspectionRow,
  { verdict, offer = 0 }: VerdictRecord,
): Promise<InspectionEvent> {
  if (verdict === "rejected") return { type: verdict, offer: toMillionths(offer) };
  if (verdict !== "contested") return { type: verdict };
  return {
    type: verdict,
    arbiter: (await isNamedAvailable(tx, services, row)) ? "agent" : "operator",
  };
}

/**
 * Checks again whether the named arbiter may decide; otherwise the operator takes over the case. What a
 * party has listed or blocked since then does not count, or it could choose its arbiter at that point.
 */
async function isNamedAvailable(
  tx: Tx,
  { runtime, identity }: MoveServices,
  { arbiter_id, agent_id, submitter_id, executor_id, due }: InspectionRow,
): Promise<boolean> {
  if (arbiter_id === identity.relayId) return false;
  const rivals = await countOpenDisputes(tx, arbiter_id, getLeastRival(due));
  if (rivals >= limits.arbiterCases) return false;
  const parties = [agent_id, submitter_id, executor_id];
  return mayArbitrate(tx, arbiter_id, { parties, now: runtime.now(), ignoresClaims: true });
}
