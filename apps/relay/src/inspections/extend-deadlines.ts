import { extendDeadline } from "@agent/budget";
import type { Storage } from "../storage/storage.ts";
import type { InspectionRow } from "../storage/tables/inspections.ts";
import { listUnmovedInspections, updateInspection } from "./store.ts";
import { parseTerms, toLengths } from "./terms.ts";

const PAGE_SIZE = 500;
const LOOK_AHEAD_MS = 600_000;

/**
 * Moves near deadlines at the start of the relay, so that a party that could not reach it has time left.
 * Each state is moved once, because otherwise starts in a row would never let it end.
 */
export async function extendInspections(storage: Storage, now: number): Promise<void> {
  const until = now + LOOK_AHEAD_MS;
  for (let after = ""; ;) {
    const page = { until, after, limit: PAGE_SIZE };
    const rows = await listUnmovedInspections(storage.read, page);
    await storage.transaction(async (tx) => {
      for (const row of rows) await updateInspection(tx, row, extendRow(row, now));
    });
    const last = rows.at(-1);
    if (last === undefined || rows.length < PAGE_SIZE) return;
    after = last.task_id;
  }
}

function extendRow(row: InspectionRow, now: number): InspectionRow {
  if (row.deadline === null) return row;
  const deadline = extendDeadline({ deadline: row.deadline, lengthMs: getLength(row), now });
  return deadline === row.deadline ? row : { ...row, deadline, moved: 1 };
}

function getLength(row: InspectionRow): number {
  const { windowMs, answerMs, decisionMs } = toLengths(parseTerms(row));
  if (row.state === "inspecting") return windowMs;
  return row.state === "rejected" ? answerMs : decisionMs;
}
