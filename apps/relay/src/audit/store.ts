import { db, p, prepare, sql } from "../storage/prepared.ts";
import type { Reader, Tx } from "../storage/storage.ts";
import type { AuditEntryRow } from "../storage/tables/audit.ts";

const addEntry = prepare<Omit<AuditEntryRow, "sequence">>()(
  sql<never>`
    insert into audit_entries (agent_id, sequence, at, actor, device_id, action, detail)
    select ${p("agent_id")}, coalesce(max(sequence), 0) + 1, ${p("at")}, ${p("actor")},
      ${p("device_id")}, ${p("action")}, ${p("detail")}
    from audit_entries where agent_id = ${p("agent_id")}`,
);

export async function insertEntry(tx: Tx, entry: Omit<AuditEntryRow, "sequence">): Promise<void> {
  await tx.run(addEntry, entry);
}

const newestEntries = prepare<{ agent_id: string; before: number; limit: number }>()(
  db
    .selectFrom("audit_entries")
    .selectAll()
    .where("agent_id", "=", p("agent_id"))
    .where("sequence", "<", p("before"))
    .orderBy("sequence", "desc")
    .limit(p("limit")),
);

/** Newest first; `before` is a sequence number. */
export function entriesOf(
  read: Reader,
  query: { agent_id: string; before: number; limit: number },
): Promise<AuditEntryRow[]> {
  return read.all(newestEntries, query);
}
