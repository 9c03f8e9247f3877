import { hexToDidKey } from "@agent/crypto";
import { fromMicro } from "@agent/budget";
import {
  limits,
  refuse,
  type Answer,
  type DiscoveryEntry,
  type Operations,
  type QueryOf,
} from "@agent/wire";
import { encodeCursorKey, decodeCursor } from "../../http/paging/cursor.ts";
import { countFitting } from "../../http/paging/page.ts";
import { toReaderId, type Caller } from "../../identity/caller.ts";
import { loadAgentInspections } from "../../inspections/reading/agent-inspections.ts";
import { calculateTaskPrice } from "../../routing/price.ts";
import {
  listRemoteAgents,
  findRemoteEntry,
} from "../../federation/discovery/list-remote-agents.ts";
import type { Services } from "../../services.ts";
import { raiseByKnownPayers } from "../../trust/backing/raise-by-known-payers.ts";
import { getLevelForReader, levelName } from "../../trust/levels.ts";
import { toTrustBasisMember } from "../../trust/trust-basis.ts";
import { getFreshness } from "./freshness.ts";
import { listCapabilities } from "./listing.ts";
import { getAvailability, isOnline } from "./online.ts";
import { listProfiles } from "./discovery-store.ts";
import { listProvenAgents } from "../keys/key-proof-store.ts";
import { findProfile, type ProfileRow } from "./profile-store.ts";
import { parseListing } from "./parse-listing.ts";

type EntryDependencies = Pick<
  Services,
  "storage" | "runtime" | "connections" | "identity" | "config"
>;

export type DiscoverDependencies = EntryDependencies &
  Pick<
    Services,
    "federation" | "freezer" | "egress" | "log" | "waiters" | "subscriptions" | "trustGraph"
  >;

/** Finds registered agents and shows the trust figures that the caller may know. */
export async function discoverAgents(
  services: DiscoverDependencies,
  query: QueryOf<Operations["discover"]>,
  caller: Caller,
): Promise<Answer<Operations["discover"]>> {
  const cursor = decodeCursor(query.cursor);
  if (!cursor.ok) return cursor;
  const limit = query.limit ?? limits.defaultPageSize;
  const { rows, next } = await listProfiles(services.storage.read, {
    reader: toReaderId(caller),
    capability: query.capability ?? "",
    text: query.q ?? "",
    after: cursor.value ?? "",
    limit,
  });
  const shown = await raiseByKnownPayers(services.storage.read, toReaderId(caller), rows);
  const proven = await listProvenAgents(
    services.storage.read,
    rows.map(({ agent_id }) => agent_id),
  );
  const agents = shown.map((row) => ({
    ...toDiscoveryEntry(services, row, query.capability),
    key_proven: proven.has(row.agent_id),
  }));
  const fitting = countFitting(agents.length, agents);
  if (fitting < agents.length)
    return discoverAgents(services, { ...query, limit: fitting }, caller);
  const { federation } = services;
  const room = limit - rows.length;
  if (federation !== undefined && next === undefined) {
    const found = { ...services, federation };
    return listRemoteAgents(found, { query, caller, agents, after: cursor.value, limit: room });
  }
  return {
    status: 200,
    body: {
      agents,
      next_cursor: next === undefined ? null : encodeCursorKey(next),
    },
  };
}

export async function getAgent(
  services: DiscoverDependencies,
  agentId: string,
  caller: Caller,
): Promise<Answer<Operations["getAgent"]>> {
  const row = await findProfile(services.storage.read, {
    reader: toReaderId(caller),
    agent_id: agentId,
  });
  const { federation } = services;
  if (row === undefined && federation !== undefined) {
    const remote = await findRemoteEntry({ ...services, federation }, agentId, caller);
    if (remote !== undefined) return { status: 200, body: remote };
  }
  if (row === undefined) return refuse("agent.not_found");
  const [shown = row] = await raiseByKnownPayers(services.storage.read, toReaderId(caller), [row]);
  const proven = await listProvenAgents(services.storage.read, [agentId]);
  const key_proven = proven.has(agentId);
  const inspections = await loadAgentInspections(services.storage.read, agentId);
  const entry = toDiscoveryEntry(services, shown, undefined);
  return { status: 200, body: { ...entry, key_proven, inspections } };
}

function toDiscoveryEntry(
  { runtime, connections, identity, config }: EntryDependencies,
  row: ProfileRow,
  capability: string | undefined,
): DiscoveryEntry {
  const listing = parseListing(row.listing);
  const pricing = listing?.pricing ?? [];
  const online = isOnline(row, connections, runtime.now());
  const required = capability === undefined ? [] : [capability];
  const price = listing === undefined ? null : calculateTaskPrice(listing, required);
  return {
    agent_id: row.agent_id,
    public_key: row.public_key,
    did: row.public_key === null ? null : hexToDidKey(row.public_key),
    endpoint_url: row.endpoint_url,
    capabilities: listCapabilities(row, row.listing === null ? undefined : { body: row.listing }),
    metadata: JSON.parse(row.metadata) as Record<string, unknown>,
    trust_level: levelName(getLevelForReader(row)),
    cost: price === null ? null : fromMicro(price),
    availability: getAvailability(online, listing),
    online,
    freshness: getFreshness(row.last_seen_at, runtime.now()),
    pricing,
    source_relay: identity.relayId,
    relay_name: config.identity.relayName,
    hop_distance: 0,
    ...toTrustBasisMember(config),
  };
}
