import { compile, param, queryBuilder, sql } from "../../storage/queries/compiled-query.ts";
import type { Reader } from "../../storage/storage.ts";
import type { AgentHistoryRow, TrustRecordRow } from "../../storage/tables/trust.ts";
import { BLOCKED, VERIFIED } from "../levels.ts";

/** The most trusted agents count, so that a page costs a bounded number of look-ups. */
const MAX_KNOWN_PAYERS = 100;

const knownAgents = compile<{ reader: string }>()(
  queryBuilder
    .selectFrom("trust_records")
    .select("remote_agent_id")
    .where("agent_id", "=", param("reader"))
    .where("trust_level", "!=", sql.lit(BLOCKED))
    .where((where) =>
      where.or([
        where("paid_tasks", ">", sql.lit(0)),
        where("trust_level", ">=", sql.lit(VERIFIED)),
      ]),
    )
    .orderBy("trust_level", "desc")
    .orderBy("interaction_count", "desc")
    .limit(sql.lit(MAX_KNOWN_PAYERS)),
);

/** Lists the agents that a reader has paid, or trusts at least as `verified`, the most trusted first. */
export async function listKnownAgents(read: Reader, reader: string): Promise<string[]> {
  return (await read.all(knownAgents, { reader })).map(({ remote_agent_id }) => remote_agent_id);
}

type IdParams = Record<`known_${number}`, string>;

const idNames = Array.from({ length: MAX_KNOWN_PAYERS }, (_, index) => `known_${index}` as const);

/** No id is empty, so the unused parameters match nothing. */
function toIdParams(ids: readonly string[]): IdParams {
  return Object.fromEntries(idNames.map((name, index) => [name, ids[index] ?? ""]));
}

type KnownRecord = Pick<TrustRecordRow, "trust_level" | "paid_tasks" | "fees_kept"> &
  Pick<AgentHistoryRow, "first_contact_backing" | "verified_backing" | "trusted_backing">;

/** Agents that share a key are left out: their words count as one, which the stored sums hold. */
const recordsOfKnown = compile<IdParams & { executor: string }>()(
  sql<KnownRecord>`
    select records.trust_level, records.paid_tasks, records.fees_kept,
      histories.first_contact_backing, histories.verified_backing, histories.trusted_backing
    from trust_records as records
    join agent_histories as histories on histories.agent_id = records.remote_agent_id
    where records.remote_agent_id = ${param("executor")}
      and records.agent_id in (${sql.join(idNames.map((name) => param(name)))})
      and not exists (select 1 from key_sharers where key_sharers.agent_id = records.agent_id)`,
);

/** Lists the trust records of known agents about an executor, each with the executor's stored sums. */
export function listKnownPayerRecords(
  read: Reader,
  executor: string,
  known: readonly string[],
): Promise<KnownRecord[]> {
  return read.all(recordsOfKnown, { ...toIdParams(known), executor });
}
