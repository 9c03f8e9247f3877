import { shortenDeadline } from "@agent/budget";
import type { Services } from "../services.ts";
import type { InspectionRow } from "../storage/tables/inspections.ts";
import { getLength } from "./extend-deadlines.ts";
import { findInspection, listInspectionsAhead, updateInspection } from "./store.ts";

const PAGE_SIZE = 500;

/**
 * Moves deadlines back after the relay's clock was set back. Those that were set at a wrong time, or moved by the jump to
 * it, would otherwise let a silent party keep the money of the other one for as long as the jump was.
 */
export async function shortenInspections({
  storage,
  runtime,
}: Pick<Services, "storage" | "runtime">): Promise<void> {
  for (let after: string | undefined = ""; after !== undefined;) {
    const now = runtime.now();
    const page: InspectionRow[] = await listInspectionsAhead(storage.read, {
      from: now,
      after,
      limit: PAGE_SIZE,
    });
    const late = page.filter((row) => shortenRow(row, now) !== row);
    await storage.transaction(async (tx) => {
      for (const { task_id } of late) {
        const row = await findInspection(tx, task_id);
        if (row !== undefined) await updateInspection(tx, row, shortenRow(row, now));
      }
    });
    after = page.length < PAGE_SIZE ? undefined : page.at(-1)?.task_id;
  }
}

function shortenRow(row: InspectionRow, now: number): InspectionRow {
  if (row.deadline === null) return row;
  const deadline = shortenDeadline({ deadline: row.deadline, lengthMs: getLength(row), now });
  return deadline === row.deadline ? row : { ...row, deadline };
}
