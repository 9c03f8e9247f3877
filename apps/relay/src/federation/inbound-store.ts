import { asMicro, type Micro } from "@agent/budget";
import {
  defaultedAmount,
  isHoldPending,
  isInboundOver,
  type Accepted,
  type InboundTask,
  type SettlementForward,
} from "@agent/federation-protocol";
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
  /** The order as the peer signed it, as JSON; null once it is forgotten. */
  readonly forward: string | null;
  /** The peer's signed acceptance of the result. */
  readonly accepted: Accepted | null;
  /** Of the row; 0 before it is stored. */
  readonly version: number;
}

function read(row: FederationInboundRow): Inbound {
  const { body, public_key, settlement, relayed, forward, accepted, version } = row;
  return {
    task: JSON.parse(body) as InboundTask,
    publicKey: public_key,
    settlement: settlement === null ? null : (JSON.parse(settlement) as SettlementForward),
    relayed,
    forward,
    accepted: accepted === null ? null : (JSON.parse(accepted) as Accepted),
    version,
  };
}

function write(inbound: Inbound): FederationInboundRow {
  const { task, publicKey, settlement, relayed, forward, accepted, version } = inbound;
  const defaulted = defaultedAmount(task);
  return {
    task_id: task.taskId,
    relay_id: task.peerId,
    due_at: nextLook(task),
    version: version + 1,
    body: JSON.stringify(task),
    public_key: publicKey,
    settlement_id: task.settlement?.settlementId ?? null,
    settlement: settlement === null ? null : JSON.stringify(settlement),
    ended_at: isInboundOver(task) ? task.holdUntil : null,
    trace: storedTrace(),
    relayed,
    forward,
    accepted: accepted === null ? null : JSON.stringify(accepted),
    defaulted: defaulted === 0 ? null : defaulted,
  };
}

/** A result is due to be sent, or an open hold to lapse; a task that runs expires with its row. */
function nextLook(task: InboundTask): number | null {
  const { state, dueAt, holdUntil } = task;
  if (state === "running") return null;
  const times = [dueAt, isHoldPending(task) ? holdUntil : null].filter((time) => time !== null);
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
    forward: p("forward"),
    accepted: p("accepted"),
    defaulted: p("defaulted"),
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
      accepted: p("accepted"),
      defaulted: p("defaulted"),
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

const unsettled = prepare()(
  db
    .selectFrom("federation_inbound")
    .selectAll()
    .where("ended_at", "is", null)
    .where("settlement_id", "is", null),
);

/** Every task of a peer that has neither come to nothing nor been settled. */
export async function unsettledInbound(reader: Reader): Promise<Inbound[]> {
  return (await reader.all(unsettled, {})).map(read);
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

const defaults = prepare<{ relay_id: string }>()(
  db
    .selectFrom("federation_inbound")
    .selectAll()
    .where("relay_id", "=", p("relay_id"))
    .where("defaulted", "is not", null),
);

/** The tasks whose results a peer has accepted and not settled in time. */
export async function defaultedInbound(reader: Reader, relay_id: string): Promise<Inbound[]> {
  return (await reader.all(defaults, { relay_id })).map(read);
}

const defaultedSum = prepare<{ relay_id: string }>()(
  sql<{ total: number }>`
    select coalesce(sum(defaulted), 0) as total from federation_inbound
    where relay_id = ${p("relay_id")} and defaulted is not null`,
);

/** What a peer has defaulted on, in micro-units. */
export async function defaultedBy(reader: Reader, relay_id: string): Promise<Micro> {
  return asMicro((await reader.get(defaultedSum, { relay_id }))?.total ?? 0);
}

const defaultedTotal = prepare()(
  sql<{ total: number }>`
    select coalesce(sum(defaulted), 0) as total from federation_inbound
    where defaulted is not null`,
);

/** What all peers together have defaulted on, in micro-units. */
export async function defaultedByAll(reader: Reader): Promise<Micro> {
  return asMicro((await reader.get(defaultedTotal, {}))?.total ?? 0);
}

const forgetOrders = prepare<{ until: number; limit: number }>()(
  sql<never>`
    update federation_inbound set forward = null where task_id in (
      select task_id from federation_inbound
      where body ->> '$.settlement.bookedAt' <= ${p("until")}
        and forward is not null and settlement_id is not null
      limit ${p("limit")})`,
);

/** Forgets the orders, and with them the prompts, of tasks that were settled by `until`. */
export function forgetSettledOrders(
  tx: Tx,
  old: { until: number; limit: number },
): Promise<number> {
  return tx.run(forgetOrders, old);
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

const replaceOrderPrompt = prepare<{ task_id: string; prompt: string }>()(
  db
    .updateTable("federation_inbound")
    .set({ forward: sql`json_replace(forward, '$.task_payload.prompt', ${p("prompt")})` })
    .where("task_id", "=", p("task_id"))
    .where("forward", "is not", null),
);

/** Replaces the prompt in the kept order of a peer's task, for example by its hash. */
export async function replacePromptOfOrder(
  tx: Tx,
  order: { task_id: string; prompt: string },
): Promise<void> {
  await tx.run(replaceOrderPrompt, order);
}
