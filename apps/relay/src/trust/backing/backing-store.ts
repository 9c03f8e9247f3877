import type { PayerRecord, TrustThresholds } from "@agent/routing-semiring";
import { compile, param, params, queryBuilder, sql } from "../../storage/queries/compiled-query.ts";
import { inRowForm } from "../../storage/queries/row-form.ts";
import type { Reader, Tx } from "../../storage/storage.ts";
import type { TrustRecordRow } from "../../storage/tables/trust.ts";
import { toPayerRecord } from "../levels.ts";

type HeldLevel = Pick<TrustRecordRow, "agent_id" | "trust_level" | "paid_tasks" | "fees_kept">;

const recordsOfPayers = compile<{ executor: string }>()(
  sql<HeldLevel & { group_id: string | null }>`
    select records.agent_id, trust_level, paid_tasks, fees_kept, group_id from trust_records as records
      left join key_sharers on key_sharers.agent_id = records.agent_id
      where remote_agent_id = ${param("executor")}`,
);

/** Lists the trust records of all delegators about an executor, each with its owner. */
export async function listPayerRecords(read: Reader, executor: string): Promise<PayerRecord[]> {
  const rows = await read.all(recordsOfPayers, { executor });
  return rows.map((row) => ({ ...toPayerRecord(row), owner: row.group_id ?? row.agent_id }));
}

const recordsOfGroup = compile<{ executor: string; group_id: string; except: string }>()(
  sql<HeldLevel>`
    select records.agent_id, trust_level, paid_tasks, fees_kept from key_sharers
      join trust_records as records on records.agent_id = key_sharers.agent_id
        and records.remote_agent_id = ${param("executor")}
      where group_id = ${param("group_id")} and key_sharers.agent_id != ${param("except")}`,
);

/** Lists the trust records of the other agents in a delegator's group about an executor. */
export async function listGroupRecords(
  read: Reader,
  about: { readonly executor: string; readonly group_id: string; readonly except: string },
): Promise<PayerRecord[]> {
  return (await read.all(recordsOfGroup, about)).map(toPayerRecord);
}

const executorPage = compile<{ after: string; limit: number }>()(
  queryBuilder
    .selectFrom("agent_histories")
    .select("agent_id")
    .where("agent_id", ">", param("after"))
    .orderBy("agent_id")
    .limit(param("limit")),
);

/** Lists the agents with a history page by page, by id. */
export async function listHistoryIds(
  read: Reader,
  after: string,
  limit: number,
): Promise<readonly string[]> {
  return (await read.all(executorPage, { after, limit })).map(({ agent_id }) => agent_id);
}

const selectThresholds = inRowForm(
  compile()(
    queryBuilder
      .selectFrom("trust_thresholds")
      .select(["verified", "trusted"])
      .where("one", "=", sql.lit<1>(1)),
  ),
  { kind: "read", tables: ["trust_thresholds"] },
);

/** Returns the thresholds by which the stored backing was computed. */
export async function getTrustThresholds(read: Reader): Promise<TrustThresholds> {
  const row = await read.get(selectThresholds, {});
  if (row === undefined) throw new Error("the trust thresholds are not stored");
  return row;
}

const updateThresholds = compile<{ verified: number; trusted: number }>()(
  queryBuilder.updateTable("trust_thresholds").set(params("verified", "trusted")),
);

export async function saveTrustThresholds(
  tx: Tx,
  { verified, trusted }: TrustThresholds,
): Promise<void> {
  await tx.run(updateThresholds, { verified, trusted });
}
