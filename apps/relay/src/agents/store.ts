import {
  inBatches,
  queryBuilder,
  param,
  params,
  compile,
  sql,
} from "../storage/queries/compiled-query.ts";
import { jsonTexts } from "../storage/queries/fragments.ts";
import { inRowForm } from "../storage/queries/row-form.ts";
import type { Reader, Tx } from "../storage/storage.ts";
import type { AgentCapabilityRow, AgentRow } from "../storage/tables/agents.ts";
import { KEYED_TABLES } from "../storage/tables/keyed-tables.ts";
import { findPlace } from "./discovery/places/move-place.ts";

const agentById = inBatches(
  compile<{ agent_id: string }>()(
    queryBuilder.selectFrom("agents").selectAll().where("agent_id", "=", param("agent_id")),
  ),
);

export function findAgent(read: Reader, agent_id: string): Promise<AgentRow | undefined> {
  return read.get(agentById, { agent_id });
}

/** Returns whether an agent of this relay was revoked, which is final. */
export async function isRevokedAgent(read: Reader, agent_id: string): Promise<boolean> {
  const agent = await findAgent(read, agent_id);
  return agent !== undefined && agent.revoked_at !== null;
}

const CHANGING_COLUMNS = [
  "public_key",
  "endpoint_url",
  "capabilities",
  "metadata",
  "federation_visible",
  "registered",
  "last_seen_at",
  "unreachable_at",
  "revoked_at",
] as const;

const insertAgentQuery = compile<AgentRow & { place: string }>()(
  queryBuilder
    .insertInto("agents")
    .values(params("agent_id", "created_at", "place", ...CHANGING_COLUMNS)),
);

const updateAgentQuery = compile<AgentRow>()(
  queryBuilder
    .updateTable("agents")
    .set(params(...CHANGING_COLUMNS))
    .where("agent_id", "=", param("agent_id")),
);

/** Inserts or updates an agent's row. */
export async function saveAgent(tx: Tx, agent: AgentRow): Promise<void> {
  if ((await tx.run(updateAgentQuery, agent)) !== 0) return;
  // Another relay's agent may have worked under this id before.
  const place = await findPlace(tx, agent.agent_id);
  await tx.run(insertAgentQuery, { ...agent, place });
}

/** Freshness is measured in minutes, so a heartbeat within seconds of the last one is not written. */
const TOUCH_INTERVAL_MS = 30_000;

const updateLastSeenQuery = inRowForm(
  compile<{ agent_id: string; now: number; stale: number }>()(
    queryBuilder
      .updateTable("agents")
      .set({ last_seen_at: param("now"), unreachable_at: null })
      .where("agent_id", "=", param("agent_id"))
      .where(sql<boolean>`(last_seen_at <= ${param("stale")} or unreachable_at is not null)`),
  ),
  {
    kind: "update",
    table: KEYED_TABLES.agents,
    change: ({ last_seen_at, unreachable_at }, { now, stale }) =>
      Number(last_seen_at) <= stale || unreachable_at !== null
        ? { last_seen_at: now, unreachable_at: null }
        : undefined,
  },
);

/** Records a sign of life of an agent. */
export async function updateLastSeen(tx: Tx, agent_id: string, now: number): Promise<void> {
  await tx.run(updateLastSeenQuery, { agent_id, now, stale: now - TOUCH_INTERVAL_MS });
}

const updateUnreachable = compile<{ agent_id: string; endpoint_url: string; now: number }>()(
  queryBuilder
    .updateTable("agents")
    .set({ unreachable_at: param("now") })
    .where("agent_id", "=", param("agent_id"))
    .where("endpoint_url", "=", param("endpoint_url"))
    .where("unreachable_at", "is", null),
);

/** Records that a call found no MCP server at an agent's endpoint; not if the agent has another one now. */
export async function markUnreachable(
  tx: Tx,
  call: { agent_id: string; endpoint_url: string; now: number },
): Promise<void> {
  await tx.run(updateUnreachable, call);
}

const updateStopped = compile<{ agent_id: string; device_id: string; now: number }>()(
  sql<never>`
    update agents set unreachable_at = ${param("now")}
    where agent_id = ${param("agent_id")} and endpoint_url is not null and unreachable_at is null
      and exists (select 1 from devices where devices.device_id = ${param("device_id")}
        and devices.agent_id = agents.agent_id and devices.public_key = agents.public_key)`,
);

/** Records that the device that carries an agent's own key has stopped, so its endpoint is not expected to answer. */
export async function markStopped(
  tx: Tx,
  stopped: { agent_id: string; device_id: string; now: number },
): Promise<void> {
  await tx.run(updateStopped, stopped);
}

const deleteCapabilitiesQuery = compile<{ agent_id: string }>()(
  queryBuilder.deleteFrom("agent_capabilities").where("agent_id", "=", param("agent_id")),
);

const insertCapabilityQuery = compile<AgentCapabilityRow>()(
  queryBuilder.insertInto("agent_capabilities").values(params("capability", "agent_id", "place")),
);

/** Replaces the capabilities by which an agent is found. */
export async function replaceCapabilities(
  tx: Tx,
  agent_id: string,
  capabilities: Iterable<string>,
): Promise<void> {
  await tx.run(deleteCapabilitiesQuery, { agent_id });
  const place = await findPlace(tx, agent_id);
  for (const capability of new Set(capabilities)) {
    await tx.run(insertCapabilityQuery, { agent_id, capability, place });
  }
}

const knownAgentIds = compile<{ ids: string }>()(
  sql<{ agent_id: string }>`
    select agent_id from agents where agent_id in ${jsonTexts(param("ids"))}`,
);

/** Returns the ids that belong to agents of this relay. */
export async function listKnownAgents(read: Reader, ids: readonly string[]): Promise<string[]> {
  if (ids.length === 0) return [];
  return (await read.all(knownAgentIds, { ids: JSON.stringify(ids) })).map(
    ({ agent_id }) => agent_id,
  );
}
