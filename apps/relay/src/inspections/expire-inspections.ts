import { runInBatches } from "../storage/run-in-batches.ts";
import { getCurrentState } from "./current-state.ts";
import { moveInspection, publishMove, type MoveServices } from "./move.ts";
import { findInspectionToMove } from "./extend-deadlines.ts";
import { listDueInspections } from "./store.ts";

/** Moves every inspection whose deadline has passed: it is closed, or its arbiter replaced. */
export async function expireInspections(services: MoveServices): Promise<void> {
  const { storage, runtime } = services;
  await runInBatches(async (limit) => {
    const due = await listDueInspections(storage.read, { until: runtime.now(), limit });
    await Promise.all(due.map(({ task_id }) => expireDueInspection(services, task_id)));
    return due.length;
  });
}

async function expireDueInspection(services: MoveServices, taskId: string): Promise<void> {
  const { storage, runtime, identity } = services;
  const moved = await storage.transaction(async (tx) => {
    const row = await findInspectionToMove(tx, services, taskId);
    const now = runtime.now();
    // A statement was accepted in the meantime, or the deadline was moved.
    if (row === undefined || row.deadline === null || row.deadline > now) return undefined;
    return moveInspection(tx, services, row, getCurrentState(row, identity, now));
  });
  if (moved?.ok === true) publishMove(services, moved);
}
