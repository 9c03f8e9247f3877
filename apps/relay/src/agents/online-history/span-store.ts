import { compile, param, queryBuilder, sql } from "../../storage/queries/compiled-query.ts";
import { jsonTexts } from "../../storage/queries/fragments.ts";
import type { Reader, Tx } from "../../storage/storage.ts";
import type { OnlineSpanRow, OnlineWatchRow } from "../../storage/tables/operator.ts";

const newestWatch = compile()(
  queryBuilder.selectFrom("online_watches").selectAll().orderBy("since", "desc").limit(sql.lit(1)),
);

/** Returns the latest period in which the relay took samples. */
export function findNewestWatch(read: Reader): Promise<OnlineWatchRow | undefined> {
  return read.get(newestWatch, {});
}

const watchUpsert = compile<OnlineWatchRow>()(
  queryBuilder
    .insertInto("online_watches")
    .values({ since: param("since"), until: param("until") })
    .onConflict((conflict) => conflict.column("since").doUpdateSet({ until: param("until") })),
);

/** Inserts a watch, or replaces the end of one. */
export async function saveWatch(tx: Tx, watch: OnlineWatchRow): Promise<void> {
  await tx.run(watchUpsert, watch);
}

const newestSpans = compile<{ since: number }>()(
  sql<Pick<OnlineSpanRow, "agent_id" | "until">>`
    select agent_id, until from online_spans where until is null
    union all
    select agent_id, until from online_spans where until >= ${param("since")}`,
);

/** Lists the spans that are open or ended after a time. */
export function listNewestSpans(
  read: Reader,
  since: number,
): Promise<Pick<OnlineSpanRow, "agent_id" | "until">[]> {
  return read.all(newestSpans, { since });
}

/** JSON array of the agents. */
interface OfAgents {
  readonly agents: string;
}

const endOpen = compile<OfAgents & { until: number }>()(
  sql<never>`
    update online_spans set until = ${param("until")}
    where until is null and agent_id in ${jsonTexts(param("agents"))}`,
);

export async function endSpans(
  tx: Tx,
  ended: { readonly agents: readonly string[]; readonly until: number },
): Promise<void> {
  await tx.run(endOpen, { ...ended, agents: JSON.stringify(ended.agents) });
}

const reopen = compile<OfAgents & { since: number }>()(
  sql<never>`
    update online_spans set until = null
    where until >= ${param("since")} and agent_id in ${jsonTexts(param("agents"))}`,
);

/** Opens the spans again that ended after a time. */
export async function resumeSpans(
  tx: Tx,
  resumed: { readonly agents: readonly string[]; readonly since: number },
): Promise<void> {
  await tx.run(reopen, { ...resumed, agents: JSON.stringify(resumed.agents) });
}

const insertOpen = compile<OfAgents & { since: number }>()(
  sql<never>`
    insert into online_spans (agent_id, since)
    select value, cast(${param("since")} as bigint)
    from ${jsonTexts(param("agents"))} as begun`,
);

export async function beginSpans(
  tx: Tx,
  begun: { readonly agents: readonly string[]; readonly since: number },
): Promise<void> {
  await tx.run(insertOpen, { ...begun, agents: JSON.stringify(begun.agents) });
}

const laterRows = [
  compile<{ now: number }>()(sql<never>`delete from online_spans where since > ${param("now")}`),
  compile<{ now: number }>()(
    sql<never>`update online_spans set until = ${param("now")} where until > ${param("now")}`,
  ),
  compile<{ now: number }>()(sql<never>`delete from online_watches where since > ${param("now")}`),
  compile<{ now: number }>()(
    sql<never>`update online_watches set until = ${param("now")} where until > ${param("now")}`,
  ),
];

/** Removes what was stored for times that are still in the future. */
export async function cutLaterSpans(tx: Tx, now: number): Promise<void> {
  for (const cut of laterRows) await tx.run(cut, { now });
}

const spansOfAgent = compile<{ agent_id: string; from: number }>()(
  sql<OnlineWatchRow>`
    select since, until from (
      select since, coalesce(until, (select max(until) from online_watches)) as until
      from online_spans where agent_id = ${param("agent_id")}
    ) as spans where until > ${param("from")} order by since`,
);

/** Lists the times in which an agent was online, oldest first; an open one ends with the newest sample. */
export function listSpans(
  read: Reader,
  query: { readonly agent_id: string; readonly from: number },
): Promise<OnlineWatchRow[]> {
  return read.all(spansOfAgent, query);
}

const watchesFrom = compile<{ from: number }>()(
  sql<OnlineWatchRow>`
    select since, until from online_watches where until > ${param("from")} order by since`,
);

/** Lists the periods in which the relay took samples, oldest first. */
export function listWatches(read: Reader, from: number): Promise<OnlineWatchRow[]> {
  return read.all(watchesFrom, { from });
}

interface OldSpans {
  readonly until: number;
  readonly limit: number;
}

const deleteEnded = compile<OldSpans>()(
  sql<never>`
    delete from online_spans where (agent_id, since) in (
      select agent_id, since from online_spans
      where until < ${param("until")} limit ${param("limit")})`,
);

/** Deletes the spans that ended before a time. */
export function deleteOldSpans(tx: Tx, old: OldSpans): Promise<number> {
  return tx.run(deleteEnded, old);
}

const deleteWatches = compile<{ until: number }>()(
  sql<never>`delete from online_watches where until < ${param("until")}`,
);

export async function deleteOldWatches(tx: Tx, until: number): Promise<void> {
  await tx.run(deleteWatches, { until });
}
