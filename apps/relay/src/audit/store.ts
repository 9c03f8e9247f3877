import { queryBuilder, param, compile, sql } from "../storage/queries/compiled-query.ts";
import type { Reader, Tx } from "../storage/storage.ts";
import type { AuditEntryRow } from "../storage/tables/audit.ts";

const insertEntryQuery = compile<Omit<AuditEntryRow, "sequence">>()(
  sql<never>`
    insert into audit_entries (agent_id, sequence, at, actor, device_id, action, detail)
    select ${param("agent_id")}, coalesce(max(sequence), 0) + 1, ${param("at")}, ${param("actor")},
      ${param("device_id")}, ${param("action")}, ${param("detail")}
    from audit_entries where agent_id = ${param("agent_id")}`,
);

export async function insertAuditEntry(
  tx: Tx,
  entry: Omit<AuditEntryRow, "sequence">,
): Promise<void> {
  await tx.run(insertEntryQuery, entry);
}

const newestEntries = compile<{ agent_id: string; before: number; limit: number }>()(
  queryBuilder
    .selectFrom("audit_entries")
    .selectAll()
    .where("agent_id", "=", param("agent_id"))
    .where("sequence", "<", param("before"))
    .orderBy("sequence", "desc")
    .limit(param("limit")),
);

/** Lists entries, newest first; `before` is a sequence number. */
export function listAuditEntries(
  read: Reader,
  query: { agent_id: string; before: number; limit: number },
): Promise<AuditEntryRow[]> {
  return read.all(newestEntries, query);
}
