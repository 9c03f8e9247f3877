import { extendDeadline } from "@agent/budget";
import type { Services } from "../services.ts";
import type { Storage, Tx } from "../storage/storage.ts";
import type { InspectionRow } from "../storage/tables/inspections.ts";
import { findInspection, listUnmovedInspections, updateInspection } from "./store.ts";
import { parseLengths } from "./terms.ts";

const PAGE_SIZE = 500;
const LOOK_AHEAD_MS = 600_000;

/**
 * Extends near deadlines at the start of the relay, so that a party that could not reach it has time left.
 * Each state is extended once, because otherwise repeated restarts would keep it open forever.
 */
export async function extendInspections(storage: Storage, now: number): Promise<void> {
  const extendAfter = (after: string) =>
    storage.transaction((tx) => extendPage(tx, { now, after }));
  for (let after: string | undefined = ""; after !== undefined;) after = await extendAfter(after);
}

/** The same in one transaction, for a relay that started frozen. */
export async function extendInspectionsIn(tx: Tx, now: number): Promise<void> {
  for (let after: string | undefined = ""; after !== undefined;) {
    after = await extendPage(tx, { now, after });
  }
}

/** Returns the last task of the page; undefined if there are no more. */
async function extendPage(
  tx: Tx,
  { now, after }: { readonly now: number; readonly after: string },
): Promise<string | undefined> {
  const page = { until: now + LOOK_AHEAD_MS, after, limit: PAGE_SIZE };
  const rows = await listUnmovedInspections(tx, page);
  for (const row of rows) await updateInspection(tx, row, extendRow(row, now));
  return rows.length < PAGE_SIZE ? undefined : rows.at(-1)?.task_id;
}

/**
 * Finds an inspection in order to move it. If the relay's time has jumped forward, for example after the
 * machine was suspended, a near deadline is first extended as at a start, because no party could reach the
 * relay in the meantime.
 */
export async function findInspectionToMove(
  tx: Tx,
  { clock }: Pick<Services, "clock">,
  taskId: string,
): Promise<InspectionRow | undefined> {
  const row = await findInspection(tx, taskId);
  if (row === undefined || row.moved === 1) return row;
  const extended = extendRow(row, clock.movedForwardTo());
  if (extended !== row) await updateInspection(tx, row, extended);
  return extended;
}

function extendRow(row: InspectionRow, now: number): InspectionRow {
  if (row.deadline === null) return row;
  const deadline = extendDeadline({ deadline: row.deadline, lengthMs: getLength(row), now });
  return deadline === row.deadline ? row : { ...row, deadline, moved: 1 };
}

/** Returns the length in ms of the state that an open inspection is in. */
export function getLength(row: InspectionRow): number {
  const { windowMs, answerMs, decisionMs } = parseLengths(row);
  if (row.state === "inspecting") return windowMs;
  return row.state === "rejected" ? answerMs : decisionMs;
}
