import type { Posting } from "@agent/budget";
import { compile, param, sql, either } from "../../storage/queries/compiled-query.ts";
import { jsonLength, jsonRows } from "../../storage/queries/fragments.ts";
import type { Reader } from "../../storage/storage.ts";
import type { SettlementRow } from "../../storage/tables/budget.ts";
import type { Page, PageParams, PageRow } from "./scan-pages.ts";

/** Finds completed tasks with a price that are neither settled nor inspected nor in the outbox. */
const unsettledOfPage = sql<string>`
  (select ${jsonRows(sql.ref("page.task_id"))} from page join tasks as t on t.task_id = page.task_id
    where t.status = 'completed' and t.allocation_id is not null and t.submitted_by is not null
      and t.origin_peer is null
      and not exists (select 1 from settlements as s where s.task_id = t.task_id)
      and not exists (select 1 from inspections as i where i.task_id = t.task_id and i.closed_at is null)
      and not exists (select 1 from federation_outbox as o where o.task_id = t.task_id))`;

const rowIdBound = sql<number>`coalesce(cast(nullif(${param("after")}, '') as bigint), 9223372036854775807)`;

/** Reads all tasks, newest first. Tasks of other relays' agents are settled by those relays. */
export const unsettledTasks = compile<Page>()(
  sql<PageRow>`
    with page as (
      select rowid as place, task_id from tasks where rowid < ${rowIdBound}
      order by rowid desc limit ${param("limit")}
    )
    select
      (select cast(min(place) as text) from page) as last,
      (select count(*) from page) as rows,
      ${unsettledOfPage} as wrong`,
);

/** The same for tasks whose receipts arrived since then. */
export const recentUnsettledTasks = compile<PageParams>()(
  sql<PageRow>`
    with page as (
      select rowid as place, task_id, received_at from receipts where rowid < ${rowIdBound}
      order by rowid desc limit ${param("limit")}
    )
    select
      (select case when min(received_at) >= ${param("since")} then cast(min(place) as text) end
        from page) as last,
      (select count(*) from page) as rows,
      ${unsettledOfPage} as wrong`,
);

/** A settlement with the postings that it names. */
export interface PostedSettlement extends Pick<
  SettlementRow,
  "task_id" | "amount_settled" | "fee" | "net" | "payer_id" | "payee_id" | "settled_at"
> {
  readonly place: number;
  /** The number of postings that it names. */
  readonly named: number;
  /** JSON array of the named postings that exist and belong to its task. */
  readonly found: string;
}

const postingObject = either({
  sqlite: sql`json_object('account', p.account, 'type', p.type, 'amount', p.amount)`,
  postgres: sql`json_build_object('account', p.account, 'type', p.type, 'amount', p.amount)`,
});
/**
 * PostgreSQL's planner assumes 100 elements in every JSON array, and would therefore read all postings for
 * each settlement instead of looking them up, so the query forces the lookup.
 */
const namedPostings = either({
  sqlite: sql`json_each(s.postings) as place join postings as p
    on p.account = place.value ->> 0 and p.sequence = cast(place.value ->> 1 as bigint)`,
  postgres: sql`json_array_elements(to_safe_json(s.postings)) as place(value) cross join lateral (
    select * from postings
    where account = place.value ->> 0 and sequence = cast(place.value ->> 1 as bigint) limit 1) as p`,
});

const settlementPage = compile<{ before: number; limit: number }>()(
  sql<PostedSettlement>`
    select s.rowid as place, task_id, amount_settled, fee, net, payer_id, payee_id, settled_at,
      ${jsonLength("s.postings")} as named,
      (select ${jsonRows(postingObject)} from ${namedPostings}
        where p.reference_id = s.task_id) as found
    from settlements as s where s.rowid < ${param("before")}
    order by s.rowid desc limit ${param("limit")}`,
);

/** Newest first. */
export function listSettlementsBefore(
  read: Reader,
  query: { before: number; limit: number },
): Promise<PostedSettlement[]> {
  return read.all(settlementPage, query);
}

export function parsePostings({ found }: PostedSettlement): readonly Posting[] {
  return JSON.parse(found) as Posting[];
}
