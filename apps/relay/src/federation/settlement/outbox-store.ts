import type { Micro } from "@agent/budget";
import {
  getSettlementPayable,
  type OutgoingSettlement,
} from "@agent/federation-protocol/settlement";
import type { PostedRow } from "../../budget/post-movement.ts";
import { formatCurrentTrace } from "../../observability/trace.ts";
import { queryBuilder, param, params, compile, sql } from "../../storage/queries/compiled-query.ts";
import { matchesIfGiven } from "../../storage/queries/matches-if-given.ts";
import type { Reader, Tx } from "../../storage/storage.ts";
import type { FederationOutboxRow } from "../../storage/tables/federation.ts";
import { saveVersionedRow } from "../../storage/writing/save-versioned-row.ts";

/** A settlement with its payer and hold, and its bookkeeping. */
export interface OutboxEntry {
  readonly settlement: OutgoingSettlement;
  readonly payerId: string;
  /** The amount in the hold of the task. */
  readonly locked: Micro;
  readonly allocationId: string;
  /** The postings of a middle relay's fee, made when it was paid itself. */
  readonly feePostings?: readonly PostedRow[];
  readonly createdAt: number;
  readonly endedAt: number | null;
  readonly lastError: string | null;
  /** The version of the row; 0 before it is stored. */
  readonly version: number;
}

function fromRow({ body, version }: FederationOutboxRow): OutboxEntry {
  return { ...(JSON.parse(body) as OutboxEntry), version };
}

function toRow({ version, ...entry }: OutboxEntry): FederationOutboxRow {
  const { settlementId, taskId, peerId, state, dueAt } = entry.settlement;
  return {
    settlement_id: settlementId,
    task_id: taskId,
    relay_id: peerId,
    state,
    due_at: dueAt,
    version: version + 1,
    body: JSON.stringify(entry),
    ended_at: entry.endedAt,
    payable: getSettlementPayable(entry.settlement),
    trace: formatCurrentTrace(),
  };
}

const byId = compile<{ settlement_id: string }>()(
  queryBuilder
    .selectFrom("federation_outbox")
    .selectAll()
    .where("settlement_id", "=", param("settlement_id")),
);

export async function findOutbox(
  reader: Reader,
  settlement_id: string,
): Promise<OutboxEntry | undefined> {
  const row = await reader.get(byId, { settlement_id });
  return row && fromRow(row);
}

const byTask = compile<{ task_id: string }>()(
  queryBuilder.selectFrom("federation_outbox").selectAll().where("task_id", "=", param("task_id")),
);

export async function findOutboxOfTask(
  reader: Reader,
  task_id: string,
): Promise<OutboxEntry | undefined> {
  const row = await reader.get(byTask, { task_id });
  return row && fromRow(row);
}

const insertRow = compile<FederationOutboxRow>()(
  queryBuilder
    .insertInto("federation_outbox")
    .values(
      params(
        "settlement_id",
        "task_id",
        "relay_id",
        "state",
        "due_at",
        "version",
        "body",
        "ended_at",
        "payable",
        "trace",
      ),
    ),
);

const updateRow = compile<FederationOutboxRow & { before: number }>()(
  queryBuilder
    .updateTable("federation_outbox")
    .set({
      ...params("state", "due_at", "version", "body", "ended_at", "payable"),
      trace: sql`coalesce(${param("trace")}, trace)`,
    })
    .where("settlement_id", "=", param("settlement_id"))
    .where("version", "=", param("before")),
);

/** Stores a changed entry; a conflicting change in between fails the transaction. */
export async function saveOutboxEntry(tx: Tx, entry: OutboxEntry): Promise<void> {
  const row = toRow(entry);
  await saveVersionedRow(tx, { insertRow, updateRow }, row, `settlement ${row.settlement_id}`);
}

const selectPage = compile<{ state: string; before: string; limit: number }>()(
  queryBuilder
    .selectFrom("federation_outbox")
    .selectAll()
    .where("settlement_id", "<", param("before"))
    .where(matchesIfGiven("state"))
    .orderBy("settlement_id", "desc")
    .limit(param("limit")),
);

/**
 * Lists settlements, newest first; `before` is a settlement id, which grows with time; an empty state
 * matches any.
 */
export async function listOutbox(
  reader: Reader,
  query: { readonly state: string; readonly before: string; readonly limit: number },
): Promise<OutboxEntry[]> {
  return (await reader.all(selectPage, query)).map(fromRow);
}

const selectAhead = compile<{ from: number; after: string; limit: number }>()(
  queryBuilder
    .selectFrom("federation_outbox")
    .selectAll()
    .where("due_at", ">", param("from"))
    .where("settlement_id", ">", param("after"))
    .orderBy("settlement_id")
    .limit(param("limit")),
);

/** Lists settlements whose next step is due after `from`, by id. */
export async function listOutboxAhead(
  reader: Reader,
  query: { readonly from: number; readonly after: string; readonly limit: number },
): Promise<OutboxEntry[]> {
  return (await reader.all(selectAhead, query)).map(fromRow);
}

const deleteEnded = compile<{ until: number; limit: number }>()(
  queryBuilder
    .deleteFrom("federation_outbox")
    .where(
      "settlement_id",
      "in",
      queryBuilder
        .selectFrom("federation_outbox")
        .select("settlement_id")
        .where("ended_at", "<=", param("until"))
        .limit(param("limit")),
    ),
);

/** Deletes settlements that were paid or refunded by `until`; their signed records stay. */
export function purgeOutbox(tx: Tx, old: { until: number; limit: number }): Promise<number> {
  return tx.run(deleteEnded, old);
}
