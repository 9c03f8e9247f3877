import { isOutboundOpen, payableOf, type OutboundTask } from "@agent/federation-protocol";
import { storedTrace } from "../http/trace.ts";
import { db, p, prepare, sql } from "../storage/prepared.ts";
import type { Reader, Tx } from "../storage/storage.ts";
import type { FederationOutboundRow } from "../storage/tables/federation.ts";

/** A task that was sent to a peer. */
export interface Outbound {
  readonly task: OutboundTask;
  /** The way that it goes, from `self` to the agent. */
  readonly route: readonly string[];
  /** JSON of the peer's word on the receipt. */
  readonly attestation: string | null;
  /** Of the row; 0 before it is stored. */
  readonly version: number;
}

function read(row: FederationOutboundRow): Outbound {
  const { body, route, attestation, version } = row;
  return {
    task: JSON.parse(body) as OutboundTask,
    route: JSON.parse(route) as string[],
    attestation,
    version,
  };
}

function write({ task, route, attestation, version }: Outbound): FederationOutboundRow {
  return {
    task_id: task.taskId,
    relay_id: task.peerId,
    due_at: nextLook(task),
    version: version + 1,
    body: JSON.stringify(task),
    route: JSON.stringify(route),
    attestation,
    ended_at: isOutboundOpen(task) ? null : task.expiresAt,
    payable: payableOf(task),
    trace: storedTrace(),
  };
}

/** A task is due to be sent (again), or its peer to be asked to cancel it. */
function nextLook(task: OutboundTask): number | null {
  const cancelAt = isOutboundOpen(task) ? (task.cancel?.dueAt ?? null) : null;
  const times = [task.dueAt, cancelAt].filter((time) => time !== null);
  return times.length === 0 ? null : Math.min(...times);
}

const byTask = prepare<{ task_id: string }>()(
  db.selectFrom("federation_outbound").selectAll().where("task_id", "=", p("task_id")),
);

export async function findOutbound(reader: Reader, task_id: string): Promise<Outbound | undefined> {
  const row = await reader.get(byTask, { task_id });
  return row && read(row);
}

const add = prepare<FederationOutboundRow>()(
  db.insertInto("federation_outbound").values({
    task_id: p("task_id"),
    relay_id: p("relay_id"),
    due_at: p("due_at"),
    version: p("version"),
    body: p("body"),
    route: p("route"),
    attestation: p("attestation"),
    ended_at: p("ended_at"),
    payable: p("payable"),
    trace: p("trace"),
  }),
);

const change = prepare<FederationOutboundRow & { before: number }>()(
  db
    .updateTable("federation_outbound")
    .set({
      relay_id: p("relay_id"),
      due_at: p("due_at"),
      version: p("version"),
      body: p("body"),
      route: p("route"),
      attestation: p("attestation"),
      ended_at: p("ended_at"),
      payable: p("payable"),
      trace: sql`coalesce(${p("trace")}, trace)`,
    })
    .where("task_id", "=", p("task_id"))
    .where("version", "=", p("before")),
);

/** Stores a task as it is after a change; one that changed meanwhile fails the whole transaction. */
export async function putOutbound(tx: Tx, outbound: Outbound): Promise<void> {
  const row = write(outbound);
  if (outbound.version === 0) await tx.run(add, row);
  else if ((await tx.run(change, { ...row, before: outbound.version })) !== 1) {
    throw new Error(`outbound task ${row.task_id} was changed by another transaction`);
  }
}

const open = prepare()(
  db.selectFrom("federation_outbound").selectAll().where("ended_at", "is", null),
);

/** Every task that was sent to a peer and has not ended. */
export async function listOpenOutbound(reader: Reader): Promise<Outbound[]> {
  return (await reader.all(open, {})).map(read);
}

const due = prepare<{ now: number; limit: number }>()(
  db
    .selectFrom("federation_outbound")
    .select(["task_id", "trace"])
    .where("due_at", "is not", null)
    .where("due_at", "<=", p("now"))
    .orderBy("due_at")
    .limit(p("limit")),
);

/** Tasks of which it is not known whether they arrived, and those that are to be cancelled. */
export function dueOutbound(
  reader: Reader,
  now: number,
  limit: number,
): Promise<{ task_id: string; trace: string | null }[]> {
  return reader.all(due, { now, limit });
}

const forget = prepare<{ until: number; limit: number }>()(
  sql<never>`
    delete from federation_outbound where task_id in (
      select task_id from federation_outbound as o
      where ended_at <= ${p("until")}
        and not exists (select 1 from federation_inbound as i
          where i.task_id = o.task_id and i.settlement_id is null)
        and not exists (select 1 from federation_outbox as s
          where s.task_id = o.task_id and s.ended_at is null)
      limit ${p("limit")})`,
);

/** Forgets tasks that were over by `until`, unless they are still to be settled on either side. */
export function forgetOutbound(tx: Tx, old: { until: number; limit: number }): Promise<number> {
  return tx.run(forget, old);
}
