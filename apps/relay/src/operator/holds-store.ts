import { compile, param, sql } from "../storage/queries/compiled-query.ts";
import type { Reader } from "../storage/storage.ts";

/** Money that is held for a task, in micro-units. */
export interface HoldRow {
  readonly task_id: string;
  readonly payer_id: string;
  readonly amount: number;
  readonly since: number;
  readonly until: number | null;
  readonly state: "open" | "awaiting_peer";
}

interface HoldQuery {
  readonly after: string;
  readonly limit: number;
  /** Holds since later than this are left out. */
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

const holdPage = compile<HoldQuery>()(
  sql<HoldRow>`
    select * from (${openHolds} union all ${awaitingHolds}) as held
    where task_id > ${param("after")} and since <= ${param("latest")}
    order by task_id limit ${param("limit")}`,
);

/** Lists holds by the id of their task, which grows with time. */
export function listHoldsAfter(read: Reader, query: HoldQuery): Promise<HoldRow[]> {
  return read.all(holdPage, query);
}

const holdOfTask = compile<{ task_id: string }>()(
  sql<HoldRow>`
    select * from (
      ${openHolds} and tasks.task_id = ${param("task_id")}
      union all ${awaitingHolds} where federation_holds.task_id = ${param("task_id")}
    ) as held`,
);

export function findHold(read: Reader, task_id: string): Promise<HoldRow | undefined> {
  return read.get(holdOfTask, { task_id });
}
