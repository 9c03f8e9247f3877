import { queryBuilder, param, params, compile, sql } from "../storage/queries/compiled-query.ts";
import { matchesIfGiven } from "../storage/queries/matches-if-given.ts";
import type { Reader, Tx } from "../storage/storage.ts";
import type { AuditEntryRow } from "../storage/tables/audit.ts";

type NewEntry = Omit<AuditEntryRow, "sequence">;

const insertEntryQuery = compile<NewEntry>()(
  sql<{ sequence: number }>`
    insert into audit_entries (agent_id, sequence, at, actor, device_id, action, detail, result)
    select ${param("agent_id")}, coalesce(max(sequence), 0) + 1, ${param("at")}, ${param("actor")},
      ${param("device_id")}, ${param("action")}, ${param("detail")}, ${param("result")}
    from audit_entries where agent_id = ${param("agent_id")} returning sequence`,
);

/** Inserts an entry and returns its number among those of its agent. */
export async function insertAuditEntry(tx: Tx, entry: NewEntry): Promise<number> {
  const inserted = await tx.get(insertEntryQuery, entry);
  if (inserted === undefined) throw new Error("an inserted audit entry was not returned");
  return inserted.sequence;
}

const resultUpdate = compile<Pick<AuditEntryRow, "agent_id" | "sequence" | "result">>()(
  queryBuilder
    .updateTable("audit_entries")
    .set(params("result"))
    .where("agent_id", "=", param("agent_id"))
    .where("sequence", "=", param("sequence"))
    .where("result", "is", null),
);

/** Adds the answer to an action, once. */
export async function setAuditResult(
  tx: Tx,
  answered: Pick<AuditEntryRow, "agent_id" | "sequence" | "result">,
): Promise<void> {
  await tx.run(resultUpdate, answered);
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

export interface OperatorAuditQuery {
  /** Empty texts match any. */
  readonly actor: string;
  readonly action: string;
  /** The entry before which the page begins. */
  readonly at: number;
  readonly agent_id: string;
  readonly sequence: number;
  readonly limit: number;
}

const entriesOfAll = compile<OperatorAuditQuery>()(
  queryBuilder
    .selectFrom("audit_entries")
    .selectAll()
    .where(
      sql<boolean>`(at, agent_id, sequence) < (${param("at")}, ${param("agent_id")}, ${param("sequence")})`,
    )
    .where(matchesIfGiven("actor"))
    .where(matchesIfGiven("action"))
    .orderBy("at", "desc")
    .orderBy("agent_id", "desc")
    .orderBy("sequence", "desc")
    .limit(param("limit")),
);

/** Lists the entries of all agents and of the operator, newest first. */
export function listAllAuditEntries(
  read: Reader,
  query: OperatorAuditQuery,
): Promise<AuditEntryRow[]> {
  return read.all(entriesOfAll, query);
}
