import { compile, param, sql } from "../../storage/queries/compiled-query.ts";
import { jsonRows } from "../../storage/queries/fragments.ts";
import type { PageParams, PageRow } from "./scan-pages.ts";

const balanceOf = (id: string) => sql<number>`
  coalesce((select balance from accounts where account = 'held:' || ${sql.ref(`page.${id}`)}), 0)`;

/**
 * Finds inspections whose money is not where it must be. An open one must hold the amount due, its fee and
 * the bond of a contest, and must not be settled; a closed one must hold nothing and have the settlement
 * that names its outcome.
 */
export const wrongInspections = compile<PageParams>()(
  sql<PageRow>`
    with page as (
      select * from inspections
      where task_id > ${param("after")} order by task_id limit ${param("limit")}
    )
    select
      (select max(task_id) from page) as last,
      (select count(*) from page) as rows,
      (select ${jsonRows(sql.ref("page.task_id"))} from page
        left join settlements as s on s.task_id = page.task_id
        where (page.closed_at is null or page.closed_at >= ${param("since")}) and (
          ${balanceOf("task_id")} <> (case when page.closed_at is null then page.due + page.fee else 0 end)
          or ${balanceOf("dispute_id")} <> (case when page.closed_at is null then page.bond else 0 end)
          or page.bond <> (case when page.contested_at is null then 0 else page.fee end)
          or (page.closed_at is null) <> (page.deadline is not null)
          or (page.closed_at is null) <> (s.task_id is null)
          or (page.closed_at is not null and s.outcome_hash is null))) as wrong`,
);
