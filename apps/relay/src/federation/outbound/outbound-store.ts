import {
  isOutboundOpen,
  getPayable,
  type OutboundTask,
} from "@agent/federation-protocol/forwarding";
import { formatCurrentTrace } from "../../observability/trace.ts";
import { queryBuilder, param, params, compile, sql } from "../../storage/queries/compiled-query.ts";
import type { Reader, Tx } from "../../storage/storage.ts";
import type { FederationOutboundRow } from "../../storage/tables/federation.ts";
import { saveVersionedRow } from "../../storage/writing/save-versioned-row.ts";

/** A task that was sent to a peer. */
export interface OutboundRecord {
  readonly task: OutboundTask;
  /** The route of the task, from `self` to the agent. */
  readonly route: readonly string[];
  /** JSON of the peer's attestation for the receipt. */
  readonly attestation: string | null;
  /** The time at which it went to its peer; null if an earlier version sent it. */
  readonly forwardedAt: number | null;
  /** The version of the row; 0 before it is stored. */
  readonly version: number;
}

function fromRow(row: FederationOutboundRow): OutboundRecord {
  const { body, route, attestation, forwarded_at, version } = row;
  return {
    task: JSON.parse(body) as OutboundTask,
    route: JSON.parse(route) as string[],
    attestation,
    forwardedAt: forwarded_at,
    version,
  };
}

function toRow({
  task,
  route,
  attestation,
  forwardedAt,
  version,
}: OutboundRecord): FederationOutboundRow {
  return {
    task_id: task.taskId,
    relay_id: task.peerId,
    due_at: nextDueAt(task),
    version: version + 1,
    body: JSON.stringify(task),
    route: JSON.stringify(route),
    attestation,
    ended_at: isOutboundOpen(task) ? null : task.expiresAt,
    payable: getPayable(task),
    trace: formatCurrentTrace(),
    forwarded_at: forwardedAt,
  };
}

/** Returns the time to send a task (again), or to ask its peer to cancel it. */
function nextDueAt(task: OutboundTask): number | null {
  const cancelAt = isOutboundOpen(task) ? (task.cancel?.dueAt ?? null) : null;
  const times = [task.dueAt, cancelAt].filter((time) => time !== null);
  return times.length === 0 ? null : Math.min(...times);
}

const byTask = compile<{ task_id: string }>()(
  queryBuilder
    .selectFrom("federation_outbound")
    .selectAll()
    .where("task_id", "=", param("task_id")),
);

export async function findOutbound(
  reader: Reader,
  task_id: string,
): Promise<OutboundRecord | undefined> {
  const row = await reader.get(byTask, { task_id });
  return row && fromRow(row);
}

const insertRow = compile<FederationOutboundRow>()(
  queryBuilder
    .insertInto("federation_outbound")
    .values(
      params(
        "task_id",
        "relay_id",
        "due_at",
        "version",
        "body",
        "route",
        "attestation",
        "ended_at",
        "payable",
        "trace",
        "forwarded_at",
      ),
    ),
);

const updateRow = compile<FederationOutboundRow & { before: number }>()(
  queryBuilder
    .updateTable("federation_outbound")
    .set({
      ...params(
        "relay_id",
        "due_at",
        "version",
        "body",
        "route",
        "attestation",
        "ended_at",
        "payable",
        "forwarded_at",
      ),
      trace: sql`coalesce(${param("trace")}, trace)`,
    })
    .where("task_id", "=", param("task_id"))
    .where("version", "=", param("before")),
);

/** Stores a changed task; a conflicting change in between fails the whole transaction. */
export async function saveOutbound(tx: Tx, outbound: OutboundRecord): Promise<void> {
  const row = toRow(outbound);
  await saveVersionedRow(tx, { insertRow, updateRow }, row, `outbound task ${row.task_id}`);
}

/** Applies a transition to a task that was sent to a peer, if there is one; stores it if it changed. */
export async function updateOutbound(
  tx: Tx,
  task_id: string,
  transition: (task: OutboundTask) => OutboundTask,
): Promise<void> {
  const outbound = await findOutbound(tx, task_id);
  if (outbound === undefined) return;
  const task = transition(outbound.task);
  if (task !== outbound.task) await saveOutbound(tx, { ...outbound, task });
}

const selectOpen = compile()(
  queryBuilder.selectFrom("federation_outbound").selectAll().where("ended_at", "is", null),
);

/** Lists every task that was sent to a peer and has not ended. */
export async function listOpenOutbound(reader: Reader): Promise<OutboundRecord[]> {
  return (await reader.all(selectOpen, {})).map(fromRow);
}

const deleteEnded = compile<{ until: number; limit: number }>()(
  sql<never>`
    delete from federation_outbound where task_id in (
      select task_id from federation_outbound as o
      where ended_at <= ${param("until")}
        and not exists (select 1 from federation_inbound as i
          where i.task_id = o.task_id and i.settlement_id is null)
        and not exists (select 1 from federation_outbox as s
          where s.task_id = o.task_id and s.ended_at is null)
      limit ${param("limit")})`,
);

/** Deletes tasks that were over by `until`, unless they must still be settled on either side. */
export function purgeOutbound(tx: Tx, old: { until: number; limit: number }): Promise<number> {
  return tx.run(deleteEnded, old);
}
