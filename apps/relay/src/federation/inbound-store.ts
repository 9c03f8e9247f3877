import type { InboundTask, SettlementForward } from "@agent/federation-protocol";
import { storedTrace } from "../http/trace.ts";
import { db, p, prepare, sql } from "../storage/prepared.ts";
import type { Reader, Tx } from "../storage/storage.ts";
import type { FederationInboundRow } from "../storage/tables/federation.ts";

/** A task that came from a peer. */
export interface Inbound {
  readonly task: InboundTask;
  /** The worker's key that the peer expects; null where it did not say. */
  readonly publicKey: string | null;
  /** The record that it was settled by. */
  readonly settlement: SettlementForward | null;
  /** JSON of its forward as it came, without `task_payload`, for the relay that it goes on to. */
  readonly relayed: string | null;
  /** Of the row; 0 before it is stored. */
  readonly version: number;
}

function read(row: FederationInboundRow): Inbound {
  const { body, public_key, settlement, relayed, version } = row;
  return {
    task: JSON.parse(body) as InboundTask,
    publicKey: public_key,
    settlement: settlement === null ? null : (JSON.parse(settlement) as SettlementForward),
    relayed,
    version,
  };
}

function write(inbound: Inbound): FederationInboundRow {
  const { task, publicKey, settlement, relayed, version } = inbound;
  return {
    task_id: task.taskId,
    relay_id: task.peerId,
    due_at: nextLook(task),
    version: version + 1,
    body: JSON.stringify(task),
    public_key: publicKey,
    settlement_id: task.settlement?.settlementId ?? null,
    settlement: settlement === null ? null : JSON.stringify(settlement),
    ended_at: isOver(task) ? task.holdUntil : null,
    trace: storedTrace(),
    relayed,
  };
}

/** A settled one never is: its sender may ask for years whether it was booked. */
function isOver({ state, hold, settlement }: InboundTask): boolean {
  const isOpen = state === "running" || state === "returning" || hold === "open";
  return !isOpen && settlement === null;
}

/** A result is due to be sent, or an open hold to lapse; a task that runs expires with its row. */
function nextLook({ state, dueAt, hold, holdUntil }: InboundTask): number | null {
  if (state === "running") return null;
  const times = [dueAt, hold === "open" ? holdUntil : null].filter((time) => time !== null);
  return times.length === 0 ? null : Math.min(...times);
}

const byTask = prepare<{ task_id: string }>()(
  db.selectFrom("federation_inbound").selectAll().where("task_id", "=", p("task_id")),
);

export async function findInbound(reader: Reader, task_id: string): Promise<Inbound | undefined> {
  const row = await reader.get(byTask, { task_id });
  return row && read(row);
}

const add = prepare<FederationInboundRow>()(
  db.insertInto("federation_inbound").values({
    task_id: p("task_id"),
    relay_id: p("relay_id"),
    due_at: p("due_at"),
    version: p("version"),
    body: p("body"),
    public_key: p("public_key"),
    settlement_id: p("settlement_id"),
    settlement: p("settlement"),
    ended_at: p("ended_at"),
    trace: p("trace"),
    relayed: p("relayed"),
  }),
);

const change = prepare<Omit<FederationInboundRow, "relayed"> & { before: number }>()(
  db
    .updateTable("federation_inbound")
    .set({
      due_at: p("due_at"),
      version: p("version"),
      body: p("body"),
      settlement_id: p("settlement_id"),
      settlement: p("settlement"),
      ended_at: p("ended_at"),
      trace: sql`coalesce(${p("trace")}, trace)`,
    })
    .where("task_id", "=", p("task_id"))
    .where("version", "=", p("before")),
);

/** Stores a task as it is after a change; one that changed meanwhile fails the whole transaction. */
export async function putInbound(tx: Tx, inbound: Inbound): Promise<void> {
  const row = write(inbound);
  if (inbound.version === 0) await tx.run(add, row);
  else if ((await tx.run(change, { ...row, before: inbound.version })) !== 1) {
    throw new Error(`inbound task ${row.task_id} was changed by another transaction`);
  }
}

const due = prepare<{ now: number; limit: number }>()(
  db
    .selectFrom("federation_inbound")
    .select(["task_id", "trace"])
    .where("due_at", "is not", null)
    .where("due_at", "<=", p("now"))
    .orderBy("due_at")
    .limit(p("limit")),
);

/** Results to send back, and holds whose settlement did not come. */
export function dueInbound(
  reader: Reader,
  now: number,
  limit: number,
): Promise<{ task_id: string; trace: string | null }[]> {
  return reader.all(due, { now, limit });
}

const settledBy = prepare<{ relay_id: string; limit: number }>()(
  db
    .selectFrom("federation_inbound")
    .selectAll()
    .where("relay_id", "=", p("relay_id"))
    .where("settlement_id", "is not", null)
    .orderBy("settlement_id", "desc")
    .limit(p("limit")),
);

/** What a peer has settled, newest first. */
export async function settledInbound(
  reader: Reader,
  relay_id: string,
  limit: number,
): Promise<Inbound[]> {
  return (await reader.all(settledBy, { relay_id, limit })).map(read);
}

const forget = prepare<{ until: number; limit: number }>()(
  db
    .deleteFrom("federation_inbound")
    .where(
      "task_id",
      "in",
      db
        .selectFrom("federation_inbound")
        .select("task_id")
        .where("ended_at", "<=", p("until"))
        .limit(p("limit")),
    ),
);

/** Forgets tasks that came to nothing by `until`. */
export function forgetInbound(tx: Tx, old: { until: number; limit: number }): Promise<number> {
  return tx.run(forget, old);
}
