import { asMicro, type Micro } from "@agent/budget";
import {
  getAwaitedUntil,
  getDefaultedAmount,
  getRefusedAmount,
  getUndecidedAmount,
  isHoldPending,
  isInboundClosed,
  type InboundTask,
  type TaskForward,
} from "@agent/federation-protocol/forwarding";
import type { SettlementForward } from "@agent/federation-protocol/settlement";
import type { ResultAcceptance } from "@agent/federation-protocol/signing";
import { formatCurrentTrace } from "../../observability/trace.ts";
import {
  queryBuilder,
  param,
  params,
  compile,
  sql,
  either,
} from "../../storage/queries/compiled-query.ts";
import type { Reader, Tx } from "../../storage/storage.ts";
import type { FederationInboundRow } from "../../storage/tables/federation.ts";
import { saveVersionedRow } from "../../storage/writing/save-versioned-row.ts";

/** A task that came from a peer. */
export interface InboundRecord {
  readonly task: InboundTask;
  /** The executor's key that the peer expects; null where it stated none. */
  readonly publicKey: string | null;
  /** The message that settled the task. */
  readonly settlement: SettlementForward | null;
  /** JSON of the received forward without `task_payload`, for the next relay. */
  readonly relayed: string | null;
  /** JSON of the peer's signed order; null once it is purged. */
  readonly forward: string | null;
  /** The peer's signed acceptance of the result. */
  readonly accepted: ResultAcceptance | null;
  /** The time of its arrival; null if an earlier version received it. */
  readonly receivedAt: number | null;
  /** The version of the row; 0 before it is stored. */
  readonly version: number;
}

function fromRow(row: FederationInboundRow): InboundRecord {
  const { body, public_key, settlement, relayed, forward, accepted, received_at, version } = row;
  return {
    task: JSON.parse(body) as InboundTask,
    publicKey: public_key,
    settlement: settlement === null ? null : (JSON.parse(settlement) as SettlementForward),
    relayed,
    forward,
    accepted: accepted === null ? null : (JSON.parse(accepted) as ResultAcceptance),
    receivedAt: received_at,
    version,
  };
}

function toRow(inbound: InboundRecord): FederationInboundRow {
  const { task, publicKey, settlement, relayed, forward, accepted, receivedAt, version } = inbound;
  const defaulted = getDefaultedAmount(task);
  const undecided = getUndecidedAmount(task);
  const refused = getRefusedAmount(task);
  return {
    task_id: task.taskId,
    relay_id: task.peerId,
    due_at: nextDueAt(task),
    version: version + 1,
    body: JSON.stringify(task),
    public_key: publicKey,
    settlement_id: task.settlement?.settlementId ?? null,
    settlement: settlement === null ? null : JSON.stringify(settlement),
    ended_at: isInboundClosed(task) ? task.holdUntil : null,
    trace: formatCurrentTrace(),
    relayed,
    forward,
    accepted: accepted === null ? null : JSON.stringify(accepted),
    defaulted: defaulted === 0 ? null : defaulted,
    undecided: undecided === 0 ? null : undecided,
    refused: refused === 0 ? null : refused,
    received_at: receivedAt,
  };
}

/** Returns the end of the task at the peer that sent it, in ms since the epoch, as far as it is known. */
export function getSenderEnd({ task, forward }: Pick<InboundRecord, "task" | "forward">): number {
  const order = forward === null ? undefined : (JSON.parse(forward) as TaskForward);
  return order?.expires_at ?? getAwaitedUntil(task);
}

/**
 * Returns the time to send the result or the notice of the end (again), or the end of an open hold; a task
 * that runs expires with its own row.
 */
function nextDueAt(task: InboundTask): number | null {
  const { state, dueAt, holdUntil } = task;
  if (state === "running") return null;
  const times = [dueAt, isHoldPending(task) ? holdUntil : null].filter((time) => time !== null);
  return times.length === 0 ? null : Math.min(...times);
}

const byTask = compile<{ task_id: string }>()(
  queryBuilder.selectFrom("federation_inbound").selectAll().where("task_id", "=", param("task_id")),
);

export async function findInbound(
  reader: Reader,
  task_id: string,
): Promise<InboundRecord | undefined> {
  const row = await reader.get(byTask, { task_id });
  return row && fromRow(row);
}

const insertRow = compile<FederationInboundRow>()(
  queryBuilder
    .insertInto("federation_inbound")
    .values(
      params(
        "task_id",
        "relay_id",
        "due_at",
        "version",
        "body",
        "public_key",
        "settlement_id",
        "settlement",
        "ended_at",
        "trace",
        "relayed",
        "forward",
        "accepted",
        "defaulted",
        "undecided",
        "refused",
        "received_at",
      ),
    ),
);

const updateRow = compile<
  Omit<FederationInboundRow, "relayed" | "received_at"> & { before: number }
>()(
  queryBuilder
    .updateTable("federation_inbound")
    .set({
      ...params(
        "due_at",
        "version",
        "body",
        "settlement_id",
        "settlement",
        "ended_at",
        "accepted",
        "defaulted",
        "undecided",
        "refused",
      ),
      trace: sql`coalesce(${param("trace")}, trace)`,
    })
    .where("task_id", "=", param("task_id"))
    .where("version", "=", param("before")),
);

/** Stores a changed task; a conflicting change in between fails the whole transaction. */
export async function saveInbound(tx: Tx, inbound: InboundRecord): Promise<void> {
  const row = toRow(inbound);
  await saveVersionedRow(tx, { insertRow, updateRow }, row, `inbound task ${row.task_id}`);
}

const selectUnsettled = compile()(
  queryBuilder
    .selectFrom("federation_inbound")
    .selectAll()
    .where("ended_at", "is", null)
    .where("settlement_id", "is", null),
);

/** Lists every peer's task that is neither closed nor settled. */
export async function listUnsettledInbound(reader: Reader): Promise<InboundRecord[]> {
  return (await reader.all(selectUnsettled, {})).map(fromRow);
}

const selectSettled = compile<{ relay_id: string; limit: number }>()(
  queryBuilder
    .selectFrom("federation_inbound")
    .selectAll()
    .where("relay_id", "=", param("relay_id"))
    .where("settlement_id", "is not", null)
    .orderBy("settlement_id", "desc")
    .limit(param("limit")),
);

/** Lists the tasks that a peer has settled, newest first. */
export async function listSettledInbound(
  reader: Reader,
  relay_id: string,
  limit: number,
): Promise<InboundRecord[]> {
  return (await reader.all(selectSettled, { relay_id, limit })).map(fromRow);
}

const selectUnpaid = compile<{ relay_id: string }>()(
  queryBuilder
    .selectFrom("federation_inbound")
    .selectAll()
    .where("relay_id", "=", param("relay_id"))
    .where((row) => row.or([row("defaulted", "is not", null), row("refused", "is not", null)])),
);

/** Lists the tasks whose results a peer did not settle in time, or refused when they may have been too late. */
export async function listUnpaidInbound(
  reader: Reader,
  relay_id: string,
): Promise<InboundRecord[]> {
  return (await reader.all(selectUnpaid, { relay_id })).map(fromRow);
}

const sumAllDefaulted = compile()(
  sql<{ total: number }>`
    select coalesce(sum(defaulted), 0) as total from federation_inbound
    where defaulted is not null`,
);

/** Returns the total defaults of all peers, in micro-units. */
export async function getTotalDefaultedAmount(reader: Reader): Promise<Micro> {
  return asMicro((await reader.get(sumAllDefaulted, {}))?.total ?? 0);
}

/** In the words of the index on it. */
const bookedAt = either({
  sqlite: sql<number>`body ->> '$.settlement.bookedAt'`,
  postgres: sql<number>`cast(json_text(body, 'settlement', 'bookedAt') as bigint)`,
});

const clearOrders = compile<{ until: number; limit: number }>()(
  sql<never>`
    update federation_inbound set forward = null where task_id in (
      select task_id from federation_inbound
      where ${bookedAt} <= ${param("until")}
        and forward is not null and settlement_id is not null
      limit ${param("limit")})`,
);

/** Deletes the orders, and with them the prompts, of tasks that were settled by `until`. */
export function purgeSettledOrders(tx: Tx, old: { until: number; limit: number }): Promise<number> {
  return tx.run(clearOrders, old);
}

const deleteEnded = compile<{ until: number; limit: number }>()(
  queryBuilder
    .deleteFrom("federation_inbound")
    .where(
      "task_id",
      "in",
      queryBuilder
        .selectFrom("federation_inbound")
        .select("task_id")
        .where("ended_at", "<=", param("until"))
        .limit(param("limit")),
    ),
);

/** Deletes tasks that ended without a payment by `until`. */
export function purgeInbound(tx: Tx, old: { until: number; limit: number }): Promise<number> {
  return tx.run(deleteEnded, old);
}

const orderWithPrompt = either({
  sqlite: sql<string>`json_replace(forward, '$.task_payload.prompt', ${param("prompt")})`,
  postgres: sql<string>`cast(jsonb_set(cast(to_safe_json(forward) as jsonb),
    '{task_payload,prompt}', to_jsonb(cast(${param("prompt")} as text)), false) as text)`,
});

const replaceOrderPrompt = compile<{ task_id: string; prompt: string }>()(
  queryBuilder
    .updateTable("federation_inbound")
    .set({ forward: orderWithPrompt })
    .where("task_id", "=", param("task_id"))
    .where("forward", "is not", null),
);

/** Replaces the prompt in the stored order of a peer's task, for example by its hash. */
export async function replacePromptOfOrder(
  tx: Tx,
  order: { task_id: string; prompt: string },
): Promise<void> {
  await tx.run(replaceOrderPrompt, order);
}
