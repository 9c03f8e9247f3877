import { payableOfSettlement, type OutgoingSettlement } from "@agent/federation-protocol";
import type { PostedRow } from "../budget/post.ts";
import { storedTrace } from "../http/trace.ts";
import { db, p, prepare, sql } from "../storage/prepared.ts";
import type { Reader, Tx } from "../storage/storage.ts";
import type { FederationOutboxRow } from "../storage/tables/federation.ts";

/** Who pays for a settlement out of which hold, and what is to be told of it. */
export interface OutboxEntry {
  readonly settlement: OutgoingSettlement;
  readonly payerId: string;
  /** What lies in the hold of the task. */
  readonly locked: number;
  readonly allocationId: string;
  /** Of a relay in the middle: where the fee is posted that it took when it was paid itself. */
  readonly feePostings?: readonly PostedRow[];
  readonly createdAt: number;
  readonly endedAt: number | null;
  readonly lastError: string | null;
  /** Of the row; 0 before it is stored. */
  readonly version: number;
}

function read({ body, version }: FederationOutboxRow): OutboxEntry {
  return { ...(JSON.parse(body) as OutboxEntry), version };
}

function write({ version, ...entry }: OutboxEntry): FederationOutboxRow {
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
    payable: payableOfSettlement(entry.settlement),
    trace: storedTrace(),
  };
}

const byId = prepare<{ settlement_id: string }>()(
  db.selectFrom("federation_outbox").selectAll().where("settlement_id", "=", p("settlement_id")),
);

export async function findOutbox(
  reader: Reader,
  settlement_id: string,
): Promise<OutboxEntry | undefined> {
  const row = await reader.get(byId, { settlement_id });
  return row && read(row);
}

const byTask = prepare<{ task_id: string }>()(
  db.selectFrom("federation_outbox").selectAll().where("task_id", "=", p("task_id")),
);

export async function findOutboxOfTask(
  reader: Reader,
  task_id: string,
): Promise<OutboxEntry | undefined> {
  const row = await reader.get(byTask, { task_id });
  return row && read(row);
}

const add = prepare<FederationOutboxRow>()(
  db.insertInto("federation_outbox").values({
    settlement_id: p("settlement_id"),
    task_id: p("task_id"),
    relay_id: p("relay_id"),
    state: p("state"),
    due_at: p("due_at"),
    version: p("version"),
    body: p("body"),
    ended_at: p("ended_at"),
    payable: p("payable"),
    trace: p("trace"),
  }),
);

const change = prepare<FederationOutboxRow & { before: number }>()(
  db
    .updateTable("federation_outbox")
    .set({
      state: p("state"),
      due_at: p("due_at"),
      version: p("version"),
      body: p("body"),
      ended_at: p("ended_at"),
      payable: p("payable"),
      trace: sql`coalesce(${p("trace")}, trace)`,
    })
    .where("settlement_id", "=", p("settlement_id"))
    .where("version", "=", p("before")),
);

/** Stores an entry as it is after a change; one that changed meanwhile fails the transaction. */
export async function putOutbox(tx: Tx, entry: OutboxEntry): Promise<void> {
  const row = write(entry);
  if (entry.version === 0) await tx.run(add, row);
  else if ((await tx.run(change, { ...row, before: entry.version })) !== 1) {
    throw new Error(`settlement ${row.settlement_id} was changed by another transaction`);
  }
}

const due = prepare<{ now: number; limit: number }>()(
  db
    .selectFrom("federation_outbox")
    .select(["settlement_id", "trace"])
    .where("due_at", "is not", null)
    .where("due_at", "<=", p("now"))
    .orderBy("due_at")
    .limit(p("limit")),
);

/** Settlements for which something is to be done. */
export function dueOutbox(
  reader: Reader,
  now: number,
  limit: number,
): Promise<{ settlement_id: string; trace: string | null }[]> {
  return reader.all(due, { now, limit });
}

const page = prepare<{ state: string; before: string; limit: number }>()(
  db
    .selectFrom("federation_outbox")
    .selectAll()
    .where("settlement_id", "<", p("before"))
    .where(sql<boolean>`(${p("state")} = '' or state = ${p("state")})`)
    .orderBy("settlement_id", "desc")
    .limit(p("limit")),
);

/** Newest first; `before` is a settlement id, which grows with time; an empty state is any. */
export async function listOutbox(
  reader: Reader,
  query: { readonly state: string; readonly before: string; readonly limit: number },
): Promise<OutboxEntry[]> {
  return (await reader.all(page, query)).map(read);
}

const forget = prepare<{ until: number; limit: number }>()(
  db
    .deleteFrom("federation_outbox")
    .where(
      "settlement_id",
      "in",
      db
        .selectFrom("federation_outbox")
        .select("settlement_id")
        .where("ended_at", "<=", p("until"))
        .limit(p("limit")),
    ),
);

/** Forgets settlements that were paid or refunded by `until`; their signed records are kept. */
export function forgetOutbox(tx: Tx, old: { until: number; limit: number }): Promise<number> {
  return tx.run(forget, old);
}
