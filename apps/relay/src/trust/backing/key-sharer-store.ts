import { compile, param, params, queryBuilder, sql } from "../../storage/queries/compiled-query.ts";
import type { Reader, Tx } from "../../storage/storage.ts";
import type { KeySharerRow } from "../../storage/tables/trust.ts";

const groupOfAgent = compile<{ agent_id: string }>()(
  queryBuilder
    .selectFrom("key_sharers")
    .select("group_id")
    .where("agent_id", "=", param("agent_id")),
);

const insertSharer = compile<KeySharerRow>()(
  queryBuilder
    .insertInto("key_sharers")
    .values(params("agent_id", "group_id"))
    .onConflict((conflict) => conflict.doNothing()),
);

/** Returns the group of agents that have proven a key of this one; undefined for an agent alone. */
export async function findGroup(read: Reader, agent_id: string): Promise<string | undefined> {
  return (await read.get(groupOfAgent, { agent_id }))?.group_id;
}

const membersOfGroup = compile<{ agent_id: string }>()(
  sql<{ agent_id: string }>`
    select members.agent_id from key_sharers as members
    join key_sharers as one on one.group_id = members.group_id
    where one.agent_id = ${param("agent_id")}`,
);

/** Lists the group of an agent, itself included; none for an agent alone. */
export async function listGroupMembers(read: Reader, agent_id: string): Promise<string[]> {
  return (await read.all(membersOfGroup, { agent_id })).map((member) => member.agent_id);
}

/** Returns the group of an agent, and begins one with its id if it has none. */
export async function getOrCreateGroup(tx: Tx, agent_id: string): Promise<string> {
  await tx.run(insertSharer, { agent_id, group_id: agent_id });
  return (await findGroup(tx, agent_id)) ?? agent_id;
}

const moveGroup = compile<{ from: string; group_id: string }>()(
  queryBuilder
    .updateTable("key_sharers")
    .set(params("group_id"))
    .where("group_id", "=", param("from")),
);

/** Moves all agents of one group into another. */
export async function mergeGroups(tx: Tx, from: string, into: string): Promise<void> {
  await tx.run(moveGroup, { from, group_id: into });
}

const executorsOfBoth = compile<{ one: string; other: string }>()(
  sql<{ agent_id: string }>`
    select distinct records.remote_agent_id as agent_id
    from key_sharers as sharers
    join trust_records as records on records.agent_id = sharers.agent_id
    where sharers.group_id = ${param("one")} and exists (
      select 1 from key_sharers as others
      join trust_records as same on same.agent_id = others.agent_id
        and same.remote_agent_id = records.remote_agent_id
      where others.group_id = ${param("other")})`,
);

/** Lists the executors that agents of both groups have a record of. */
export async function listExecutorsOfBoth(
  read: Reader,
  one: string,
  other: string,
): Promise<readonly string[]> {
  return (await read.all(executorsOfBoth, { one, other })).map(({ agent_id }) => agent_id);
}
