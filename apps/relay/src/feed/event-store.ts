import { compile, param, params, queryBuilder, sql } from "../storage/queries/compiled-query.ts";
import { inRowForm, pickColumns } from "../storage/queries/row-form.ts";
import type { Reader, Tx } from "../storage/storage.ts";
import type { QueuedEventRow, RelayEventRow } from "../storage/tables/operator.ts";

const QUEUED_COLUMNS = ["at", "type", "peer_id", "body"] as const;

const queueInsert = inRowForm(
  compile<QueuedEventRow>()(
    queryBuilder.insertInto("event_queue").values(params(...QUEUED_COLUMNS)),
  ),
  {
    kind: "insert",
    table: "event_queue",
    row: (event) => pickColumns(event, QUEUED_COLUMNS),
  },
);

export async function queueEvent(tx: Tx, event: QueuedEventRow): Promise<void> {
  await tx.run(queueInsert, event);
}

/** In the order of the index, because PostgreSQL would otherwise step over all rows that were moved. */
const anyQueued = compile()(
  sql<{ one: number }>`select 1 as one from event_queue order by rowid limit 1`,
);

/** Returns whether a change waits for its number. */
export async function hasQueuedEvents(read: Reader): Promise<boolean> {
  return (await read.get(anyQueued, {})) !== undefined;
}

type WaitingEvent = QueuedEventRow & { readonly place: number };

const queueHead = compile<{ limit: number }>()(
  sql<WaitingEvent>`
    select rowid as place, at, type, peer_id, body from event_queue
    order by rowid limit ${param("limit")}`,
);

/** Lists the changes that were queued first, in their order. */
export function listQueuedEvents(read: Reader, limit: number): Promise<WaitingEvent[]> {
  return read.all(queueHead, { limit });
}

const queueCopy = compile<{ before: number; last: number }>()(
  sql<never>`
    insert into relay_events (sequence, at, type, peer_id, body)
    select cast(${param("before")} as bigint) + row_number() over (order by rowid), at, type, peer_id, body
    from event_queue where rowid <= ${param("last")}`,
);

const queueDelete = compile<{ last: number }>()(
  sql<never>`delete from event_queue where rowid <= ${param("last")}`,
);

/**
 * Moves the changes up to a position of the queue to the events, numbered from `before` + 1 on. All
 * statements of the transaction must see one snapshot, because a change by another process may still get an
 * earlier position.
 */
export async function moveQueuedEvents(
  tx: Tx,
  moved: { readonly before: number; readonly last: number },
): Promise<void> {
  await tx.run(queueCopy, moved);
  await tx.run(queueDelete, { last: moved.last });
}

const counterUpdate = compile<{ by: number }>()(
  sql<{ last: number }>`
    update event_counter set last = last + cast(${param("by")} as bigint) where one = 1 returning last`,
);

/** Reserves so many numbers, and returns the last of them. */
export async function reserveSequences(tx: Tx, by: number): Promise<number> {
  const reserved = await tx.get(counterUpdate, { by });
  if (reserved === undefined) throw new Error("the counter of the events is missing");
  return reserved.last;
}

const eventPage = compile<{ after: number; limit: number }>()(
  queryBuilder
    .selectFrom("relay_events")
    .selectAll()
    .where("sequence", ">", param("after"))
    .orderBy("sequence")
    .limit(param("limit")),
);

/** Lists events after a number, oldest first. */
export function listEventsAfter(
  read: Reader,
  page: { after: number; limit: number },
): Promise<RelayEventRow[]> {
  return read.all(eventPage, page);
}

const peerEventPage = compile<{ peer_id: string; before: number; limit: number }>()(
  queryBuilder
    .selectFrom("relay_events")
    .selectAll()
    .where("peer_id", "=", param("peer_id"))
    .where("sequence", "<", param("before"))
    .orderBy("sequence", "desc")
    .limit(param("limit")),
);

/** Lists the events of a peer, newest first. */
export function listPeerEvents(
  read: Reader,
  page: { peer_id: string; before: number; limit: number },
): Promise<RelayEventRow[]> {
  return read.all(peerEventPage, page);
}

// Only the oldest rows are checked, because no index orders events by time.
const eventPurge = compile<{ until: number; limit: number }>()(
  sql<never>`
    delete from relay_events where sequence in (
      select sequence from (
        select sequence, at from relay_events order by sequence limit ${param("limit")}
      ) as oldest where at <= ${param("until")})`,
);

/** Deletes events of the time until then; returns their number. */
export function deleteOldEvents(tx: Tx, old: { until: number; limit: number }): Promise<number> {
  return tx.run(eventPurge, old);
}
