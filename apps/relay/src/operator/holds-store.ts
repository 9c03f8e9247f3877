import { compile, param, sql } from "../storage/queries/compiled-query.ts";
import type { Reader } from "../storage/storage.ts";

/** Money that is held for a task, in micro-units. */
export interface HoldRow {
  readonly task_id: string;
  readonly payer_id: string;
  readonly amount: number;
  readonly since: number;
  readonly until: number | null;
  readonly state: "open" | "inspected" | "bond" | "awaiting_peer";
}

/** A hold with its place in the list, because a task may have two: of its payer and of its executor. */
export interface ListedHoldRow extends HoldRow {
  readonly place: string;
}

interface HoldQuery {
  /** A place. */
  readonly after: string;
  readonly limit: number;
  /** Holds that began later than this are left out. */
  readonly latest: number;
}

const payer = sql<string>`coalesce(tasks.submitted_by, 'relay:' || coalesce(tasks.origin_peer, ''))`;

const openHolds = sql`
  select tasks.task_id, ${payer} as payer_id, tasks.locked as amount, tasks.submitted_at as since,
    tasks.expires_at as until, 'open' as state
  from tasks where tasks.status in ('pending', 'claimed') and tasks.locked > 0`;

const awaitingHolds = sql`
  select federation_holds.task_id, ${payer} as payer_id, federation_holds.amount,
    coalesce(tasks.submitted_at, 0) as since, cast(null as bigint) as until, 'awaiting_peer' as state
  from federation_holds left join tasks on tasks.task_id = federation_holds.task_id`;

const inspectedHolds = sql`
  select inspections.task_id, submitter_id as payer_id, due + fee as amount, begun_at as since,
    deadline as until, 'inspected' as state
  from inspections where deadline is not null`;

const bonds = sql`
  select inspections.task_id, executor_id as payer_id, bond as amount, contested_at as since,
    deadline as until, 'bond' as state
  from inspections where deadline is not null and bond > 0`;

const holdPage = compile<HoldQuery>()(
  sql<ListedHoldRow>`
    select * from (
      select held.*, task_id || '!' || state as place from (
        ${openHolds} union all ${inspectedHolds} union all ${bonds} union all ${awaitingHolds}
      ) as held
    ) as listed
    where place > ${param("after")} and since <= ${param("latest")}
    order by place limit ${param("limit")}`,
);

/** Lists holds by the id of their task, which grows with time. */
export function listHoldsAfter(read: Reader, query: HoldQuery): Promise<ListedHoldRow[]> {
  return read.all(holdPage, query);
}

const holdOfTask = compile<{ task_id: string }>()(
  sql<HoldRow>`
    select * from (
      ${openHolds} and tasks.task_id = ${param("task_id")}
      union all ${inspectedHolds} and inspections.task_id = ${param("task_id")}
      union all ${awaitingHolds} where federation_holds.task_id = ${param("task_id")}
    ) as held`,
);

/** Finds the amount held from the payer of a task. */
export function findHold(read: Reader, task_id: string): Promise<HoldRow | undefined> {
  return read.get(holdOfTask, { task_id });
}
