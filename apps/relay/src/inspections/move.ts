import type { Inspection } from "@agent/budget";
import { refuse, type Refusal } from "@agent/wire";
import { logSettlement } from "../budget/record-settlement.ts";
import type { Services } from "../services.ts";
import type { Tx } from "../storage/storage.ts";
import type { InspectionRow } from "../storage/tables/inspections.ts";
import { publishReputation } from "../tasks/receipts/record-task-outcome.ts";
import { closeInspection, type ClosedInspection, type CloseServices } from "./close.ts";
import { toInspection } from "./current-state.ts";
import { enqueueInspectionChanged, publishInspectionChanged } from "./notify.ts";
import { isDecisionCounted } from "./reading/counts-for-arbiter.ts";
import { updateInspection } from "./store.ts";

/** The parts of a relay that a move of an inspection needs. */
export type MoveServices = CloseServices &
  Pick<Services, "storage" | "log" | "waiters" | "trustGraph" | "freezer" | "clock">;

/** The changes that come with a move: a statement as it arrived, and the bond of a contest. */
interface MoveChanges {
  readonly verdict?: object;
  readonly decision?: object;
  readonly bond?: Pick<InspectionRow, "bond" | "postings"> | undefined;
}

/** An inspection in its next state; `closed` if that is the last one. */
export interface MovedInspection {
  readonly ok: true;
  readonly row: InspectionRow;
  readonly closed: ClosedInspection | undefined;
  /** Whether the state changed, so that its parties must be notified. */
  readonly isChanged: boolean;
}

/**
 * Moves an open inspection to its next state by the pure rules, in the caller's transaction, with the money
 * of a close. Refused with `inspection.wrong_state` if another transaction moved it first.
 */
export async function moveInspection(
  tx: Tx,
  services: MoveServices,
  before: InspectionRow,
  after: Inspection,
  { verdict, decision, bond }: MoveChanges = {},
): Promise<MovedInspection | Refusal<"inspection.wrong_state">> {
  const { identity } = services;
  const now = services.runtime.now();
  const earlier = toInspection(before, identity);
  const isContested = earlier.arbiter === null && after.arbiter !== null;
  const isPassed =
    before.arbiter_id !== identity.relayId &&
    earlier.arbiter === "agent" &&
    after.arbiter === "operator";
  const isMoved = earlier.state !== after.state || isPassed;
  const row: InspectionRow = {
    ...before,
    state: after.state,
    deadline: after.deadline,
    moved: isMoved ? 0 : before.moved,
    // A rejection without an offer offers nothing; before a rejection there is no offer.
    offer:
      earlier.state === "inspecting" && after.state === "rejected" ? after.offer : before.offer,
    arbiter_id: after.arbiter === "operator" ? identity.relayId : before.arbiter_id,
    verdicts: addVerdict(before, verdict),
    decision: decision === undefined ? before.decision : JSON.stringify(decision),
    ...bond,
    ...(isContested && { contested_at: now }),
    ...(isPassed && { passed_by: before.arbiter_id, passed_at: before.deadline }),
  };
  const { outcome } = after;
  const closed = outcome === null ? undefined : await closeInspection(tx, services, row, outcome);
  const next = closed?.row ?? row;
  const isCounted = decision === undefined || (await isDecisionCounted(tx, next, identity));
  if (!(await updateInspection(tx, before, next, isCounted))) {
    return refuse("inspection.wrong_state");
  }
  const isChanged = earlier.state !== after.state;
  if (isChanged) await enqueueInspectionChanged(tx, services, next);
  else tx.noteChange("inspection", next.task_id);
  return { ok: true, row: next, closed, isChanged };
}

function addVerdict({ verdicts }: InspectionRow, added: object | undefined): string {
  if (added === undefined) return verdicts;
  return JSON.stringify([...(JSON.parse(verdicts) as object[]), added]);
}

/** Publishes a move to its parties, once it is durable. */
export function publishMove(
  services: MoveServices,
  { row, closed, isChanged }: MovedInspection,
): void {
  const { log, waiters } = services;
  if (isChanged) publishInspectionChanged(services, row);
  else waiters.notify(row.task_id);
  log.info("inspection.moved", {
    correlationId: row.task_id,
    state: row.state,
    arbiter_id: row.arbiter_id,
  });
  if (closed === undefined) return;
  publishReputation(services, row.task_id, closed.reputationUpdate);
  logSettlement(log, closed.settlement);
}
