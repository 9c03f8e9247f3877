import { db, p, prepare, sql } from "../storage/prepared.ts";
import type { Reader, Tx } from "../storage/storage.ts";
import type { AgentRow } from "../storage/tables/agents.ts";

const agentById = prepare<{ agent_id: string }>()(
  db.selectFrom("agents").selectAll().where("agent_id", "=", p("agent_id")),
);

export function findAgent(read: Reader, agent_id: string): Promise<AgentRow | undefined> {
  return read.get(agentById, { agent_id });
}

const addAgent = prepare<AgentRow>()(
  db.insertInto("agents").values({
    agent_id: p("agent_id"),
    public_key: p("public_key"),
    endpoint_url: p("endpoint_url"),
    capabilities: p("capabilities"),
    metadata: p("metadata"),
    federation_visible: p("federation_visible"),
    registered: p("registered"),
    created_at: p("created_at"),
    last_seen_at: p("last_seen_at"),
    revoked_at: p("revoked_at"),
  }),
);

const changeAgent = prepare<AgentRow>()(
  db
    .updateTable("agents")
    .set({
      public_key: p("public_key"),
      endpoint_url: p("endpoint_url"),
      capabilities: p("capabilities"),
      metadata: p("metadata"),
      federation_visible: p("federation_visible"),
      registered: p("registered"),
      last_seen_at: p("last_seen_at"),
      revoked_at: p("revoked_at"),
    })
    .where("agent_id", "=", p("agent_id")),
);

/** Writes an agent's row, whether it is new or known. */
export async function putAgent(tx: Tx, agent: AgentRow): Promise<void> {
  if ((await tx.run(changeAgent, agent)) === 0) await tx.run(addAgent, agent);
}

/** Freshness is told in minutes, so a sign of life within seconds of the last one is not written. */
const touchEveryMs = 30_000;

const markSeen = prepare<{ agent_id: string; now: number; stale: number }>()(
  db
    .updateTable("agents")
    .set({ last_seen_at: p("now") })
    .where("agent_id", "=", p("agent_id"))
    .where("last_seen_at", "<=", p("stale")),
);

export async function touchAgent(tx: Tx, agent_id: string, now: number): Promise<void> {
  await tx.run(markSeen, { agent_id, now, stale: now - touchEveryMs });
}

const dropCapabilities = prepare<{ agent_id: string }>()(
  db.deleteFrom("agent_capabilities").where("agent_id", "=", p("agent_id")),
);

const addCapability = prepare<{ agent_id: string; capability: string }>()(
  db
    .insertInto("agent_capabilities")
    .values({ capability: p("capability"), agent_id: p("agent_id") }),
);

/** Replaces the capabilities by which an agent is found. */
export async function indexCapabilities(
  tx: Tx,
  agent_id: string,
  capabilities: Iterable<string>,
): Promise<void> {
  await tx.run(dropCapabilities, { agent_id });
  for (const capability of new Set(capabilities)) {
    await tx.run(addCapability, { agent_id, capability });
  }
}

const known = prepare<{ ids: string }>()(
  sql<{ agent_id: string }>`
    select agent_id from agents where agent_id in (select value from json_each(${p("ids")}))`,
);

/** Those of the ids that this relay knows as agents. */
export async function knownAgents(read: Reader, ids: readonly string[]): Promise<string[]> {
  if (ids.length === 0) return [];
  return (await read.all(known, { ids: JSON.stringify(ids) })).map(({ agent_id }) => agent_id);
}
