import { refuse, type Refusal } from "@agent/wire";
import { mayActFor, type Caller } from "../../identity/caller.ts";
import type { Services } from "../../services.ts";
import type { Reader } from "../../storage/storage.ts";
import type { InspectionRow } from "../../storage/tables/inspections.ts";
import type { StoredTaskRow } from "../../storage/tables/tasks.ts";
import { findAddressedTask } from "../../tasks/find-addressed-task.ts";
import { isParticipant } from "../../tasks/task.ts";
import { isArbiterInCharge } from "../current-state.ts";
import { findInspection } from "../store.ts";
import { parseTaskTerms } from "../terms.ts";

export interface InspectionPath {
  readonly agentId: string;
  readonly taskId: string;
  readonly caller: Caller;
}

export type ReadServices = Pick<Services, "storage" | "identity" | "freezer" | "trustGraph">;

/**
 * Finds an inspection for its task's participants, the operator, and the arbiter in charge. To a named
 * arbiter that is not in charge it looks as if there were none.
 */
export async function findReadableInspection(
  services: ReadServices,
  { agentId, taskId, caller }: InspectionPath,
): Promise<
  | { readonly ok: true; readonly row: InspectionRow }
  | Refusal<"task.not_found" | "task.not_participant" | "inspection.not_found">
> {
  const { storage, identity, freezer } = services;
  const now = freezer.taskTime();
  const task = await findAddressedTask(storage.read, { agentId, taskId }, now);
  if (task === undefined) return refuse("task.not_found");
  const row = await findInspection(storage.read, taskId);
  if (!isParticipant(caller, task, services.trustGraph)) {
    if (row !== undefined && isArbiterInCharge(caller, row, identity, now))
      return { ok: true, row };
    const named = [parseTaskTerms(task)?.arbiter_id ?? null];
    return refuse(mayActFor(caller, named) ? "inspection.not_found" : "task.not_participant");
  }
  return row === undefined ? refuse("inspection.not_found") : { ok: true, row };
}

/**
 * Returns whether the caller may read a task with its evidence and its ledger because it decides about it:
 * an arbiter in charge sees what it must decide about, and nothing else.
 */
export async function mayReadAsArbiter(
  { storage, identity, freezer }: Omit<ReadServices, "trustGraph">,
  task: Pick<StoredTaskRow, "task_id" | "acceptance">,
  caller: Caller,
): Promise<boolean> {
  if (task.acceptance === null || caller.kind !== "agent") return false;
  const row = await findInspection(storage.read, task.task_id);
  return row !== undefined && isArbiterInCharge(caller, row, identity, freezer.taskTime());
}

/** Returns whether a task is being inspected, so that nothing of it may be removed. */
export async function isBeingInspected(read: Reader, taskId: string): Promise<boolean> {
  return (await findInspection(read, taskId))?.closed_at === null;
}
