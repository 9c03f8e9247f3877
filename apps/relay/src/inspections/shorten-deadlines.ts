import { shortenDeadline } from "@agent/budget";
import type { Services } from "../services.ts";
import type { Tx } from "../storage/storage.ts";
import type { InspectionRow } from "../storage/tables/inspections.ts";
import { getLength } from "./extend-deadlines.ts";
import { listInspectionsAhead, updateInspection } from "./store.ts";

const PAGE_SIZE = 500;

/**
 * Shortens deadlines after the relay's clock was set back. Deadlines that were computed at a wrong time, or
 * moved by the jump to it, would otherwise let a silent party keep the other one's money for the length of
 * the jump.
 */
export async function shortenInspections({
  storage,
  runtime,
}: Pick<Services, "storage" | "runtime">): Promise<void> {
  const shortenAfter = (after: string) =>
    storage.transaction((tx) => shortenPage(tx, { now: runtime.now(), after }));
  for (let after: string | undefined = ""; after !== undefined;) after = await shortenAfter(after);
}

/** Returns the last task of the page; undefined if there are no more. */
async function shortenPage(
  tx: Tx,
  { now, after }: { readonly now: number; readonly after: string },
): Promise<string | undefined> {
  const rows = await listInspectionsAhead(tx, { from: now, after, limit: PAGE_SIZE });
  for (const row of rows) {
    const shortened = shortenRow(row, now);
    if (shortened !== row) await updateInspection(tx, row, shortened);
  }
  return rows.length < PAGE_SIZE ? undefined : rows.at(-1)?.task_id;
}

function shortenRow(row: InspectionRow, now: number): InspectionRow {
  if (row.deadline === null) return row;
  const deadline = shortenDeadline({ deadline: row.deadline, lengthMs: getLength(row), now });
  return deadline === row.deadline ? row : { ...row, deadline };
}
