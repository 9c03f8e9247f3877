import { refuse, type Inspection, type Refusal } from "@agent/wire";
import type { SaveResponse } from "../../http/server/idempotency.ts";
import type { Tx } from "../../storage/storage.ts";
import type { InspectionRow } from "../../storage/tables/inspections.ts";
import { findInspectionToMove } from "../extend-deadlines.ts";
import { publishMove, type MovedInspection, type MoveServices } from "../move.ts";
import type { InspectionPath } from "../reading/find-readable.ts";
import { toInspectionView } from "../reading/inspection-view.ts";
import type { VerifiedStatement } from "./verify-statement.ts";

type RefusalCode = Refusal["code"];

export interface GivenStatement extends InspectionPath {
  /** The parsed statement as received. */
  readonly value: unknown;
  readonly saveResponse?: SaveResponse | undefined;
}

interface StatementToReceive<Code extends RefusalCode> extends Pick<
  GivenStatement,
  "taskId" | "saveResponse"
> {
  readonly verified: VerifiedStatement;
  /** Returns whether the inspection has already recorded the statement. */
  readonly isRecorded: (row: InspectionRow) => boolean;
  readonly apply: (tx: Tx, row: InspectionRow) => Promise<MovedInspection | Refusal<Code>>;
}

/**
 * Applies a verified statement to an inspection, in one transaction with the answer. A repeated statement
 * gets the same answer as the first time; a refused one changes nothing.
 */
export async function receiveStatement<Code extends RefusalCode>(
  services: MoveServices,
  { taskId, verified, saveResponse, isRecorded, apply }: StatementToReceive<Code>,
): Promise<
  | { readonly status: 200; readonly body: Inspection }
  | Refusal<Code | "inspection.not_found" | "inspection.signature_invalid">
> {
  const done = await services.storage.transaction(async (tx) => {
    const row = await findInspectionToMove(tx, services, taskId);
    if (row === undefined) return refuse("inspection.not_found");
    if (!(await verified.isInForce(tx))) return refuse("inspection.signature_invalid");
    const moved = isRecorded(row) ? undefined : await apply(tx, row);
    if (moved?.ok === false) return moved;
    const answer = { status: 200 as const, body: toInspectionView(moved?.row ?? row) };
    await saveResponse?.(tx, answer);
    return { ok: true as const, answer, moved };
  });
  if (!done.ok) return done;
  if (done.moved !== undefined) publishMove(services, done.moved);
  return done.answer;
}
