import { queryBuilder, param, params, compile, sql } from "../../storage/queries/compiled-query.ts";
import { jsonTexts } from "../../storage/queries/fragments.ts";
import type { Reader, Tx } from "../../storage/storage.ts";
import type { FederationAgentKeyRow } from "../../storage/tables/federation.ts";

const put = compile<FederationAgentKeyRow>()(
  queryBuilder
    .insertInto("federation_agent_keys")
    .values(params("agent_id", "relay_id", "public_key", "is_own"))
    .onConflict((conflict) =>
      conflict.columns(["agent_id", "relay_id"]).doUpdateSet((row) => ({
        public_key: row.ref("excluded.public_key"),
        is_own: row.ref("excluded.is_own"),
      })),
    ),
);

/** Stores the key under which a remote agent has delivered work, and the peer that sent it. */
export async function putRemoteKey(tx: Tx, key: FederationAgentKeyRow): Promise<void> {
  await tx.run(put, key);
}

const remoteKeys = compile<{ agent_id: string }>()(
  sql<{ public_key: string; is_admitted: 0 | 1 }>`
    select key.public_key, case when key.is_own = 1 and peer.admitted = 1 then 1 else 0 end as is_admitted
    from federation_agent_keys as key
    left join federation_peers as peer on peer.relay_id = key.relay_id
    where key.agent_id = ${param("agent_id")}`,
);

/**
 * Lists the keys with which a remote agent has delivered work. A key counts as admitted as long as a peer
 * that the operator admitted has delivered it for one of its own agents.
 */
export async function listRemoteKeys(reader: Reader, agent_id: string) {
  const rows = await reader.all(remoteKeys, { agent_id });
  return rows.map(({ public_key, is_admitted }) => ({
    publicKey: public_key,
    isAdmitted: is_admitted === 1,
  }));
}

const keysOfAgents = compile<{ agents: string }>()(
  queryBuilder
    .selectFrom("federation_agent_keys as key")
    .select(["key.agent_id", "key.public_key"])
    .where(sql<boolean>`key.agent_id in ${jsonTexts(param("agents"))}`),
);

/** Lists the keys with which remote agents have delivered work. */
export async function listKeysOfRemoteAgents(reader: Reader, agentIds: readonly string[]) {
  if (agentIds.length === 0) return [];
  return reader.all(keysOfAgents, { agents: JSON.stringify(agentIds) });
}
