import { hexToBytes, publicKeyToDidKey } from "@agent/crypto";
import { fromMicro } from "@agent/budget";
import {
  limits,
  refuse,
  type Answer,
  type DiscoveryEntry,
  type ListingBody,
  type Operations,
  type QueryOf,
} from "@agent/wire";
import { cursorAfter, decodeCursor } from "../http/cursor.ts";
import type { Caller } from "../identity/caller.ts";
import { priceIn } from "../routing/price.ts";
import { discoverBeyond, remoteEntry } from "../federation/discover-beyond.ts";
import type { Services } from "../services.ts";
import { levelName, UNKNOWN } from "../trust/levels.ts";
import { freshnessOf } from "./freshness.ts";
import { capabilitiesOf } from "./listing.ts";
import { availabilityOf, isOnline } from "./online.ts";
import { discoverProfiles } from "./discovery-store.ts";
import { listProvenAgents } from "./key-proof-store.ts";
import { profileOf, type ProfileRow } from "./profile-store.ts";

type Needs = Pick<Services, "storage" | "runtime" | "connections" | "identity" | "config">;

export type DiscoverServices = Needs &
  Pick<
    Services,
    "federation" | "freezer" | "egress" | "log" | "waiters" | "subscriptions" | "trustGraph"
  >;

/** Finds registered agents; what is said of trust is what the caller may know. */
export async function discover(
  services: DiscoverServices,
  query: QueryOf<Operations["discover"]>,
  caller: Caller,
): Promise<Answer<Operations["discover"]>> {
  const cursor = decodeCursor(query.cursor);
  if (!cursor.ok) return cursor;
  const limit = query.limit ?? limits.pageDefault;
  const { rows, next } = await discoverProfiles(services.storage.read, {
    reader: readerOf(caller),
    capability: query.capability ?? "",
    text: query.q ?? "",
    after: cursor.value ?? "",
    limit,
  });
  const proven = await listProvenAgents(
    services.storage.read,
    rows.map(({ agent_id }) => agent_id),
  );
  const agents = rows.map((row) => ({
    ...entryOf(services, row, query.capability),
    key_proven: proven.has(row.agent_id),
  }));
  const { federation } = services;
  const room = limit - rows.length;
  if (federation !== undefined && room > 0 && next === undefined) {
    const found = { ...services, federation };
    return discoverBeyond(found, { query, caller, agents, after: cursor.value, room });
  }
  return {
    status: 200,
    body: {
      agents,
      next_cursor: next === undefined ? null : cursorAfter(next),
    },
  };
}

export async function getAgent(
  services: DiscoverServices,
  agentId: string,
  caller: Caller,
): Promise<Answer<Operations["getAgent"]>> {
  const row = await profileOf(services.storage.read, {
    reader: readerOf(caller),
    agent_id: agentId,
  });
  const { federation } = services;
  if (row === undefined && federation !== undefined) {
    const remote = await remoteEntry({ ...services, federation }, agentId, caller);
    if (remote !== undefined) return { status: 200, body: remote };
  }
  if (row === undefined) return refuse("agent.not_found");
  const proven = await listProvenAgents(services.storage.read, [agentId]);
  const key_proven = proven.has(agentId);
  return { status: 200, body: { ...entryOf(services, row, undefined), key_proven } };
}

export function readerOf(caller: Caller): string {
  return caller.kind === "agent" ? caller.agentId : "";
}

function entryOf(
  { runtime, connections, identity, config }: Needs,
  row: ProfileRow,
  capability: string | undefined,
): DiscoveryEntry {
  const listing = row.listing === null ? undefined : (JSON.parse(row.listing) as ListingBody);
  const pricing = listing?.pricing ?? [];
  const online = isOnline(row, connections, runtime.now());
  const required = capability === undefined ? [] : [capability];
  const price = listing === undefined ? null : priceIn(listing, required);
  return {
    agent_id: row.agent_id,
    public_key: row.public_key,
    did: row.public_key === null ? null : publicKeyToDidKey(hexToBytes(row.public_key)),
    endpoint_url: row.endpoint_url,
    capabilities: capabilitiesOf(row, row.listing === null ? undefined : { body: row.listing }),
    metadata: JSON.parse(row.metadata) as Record<string, unknown>,
    trust_level: levelName(row.own_level ?? row.payers_level ?? UNKNOWN),
    cost: price === null ? null : fromMicro(price),
    availability: availabilityOf(online, listing),
    online,
    freshness: freshnessOf(row.last_seen_at, runtime.now()),
    pricing,
    source_relay: identity.relayId,
    relay_name: config.identity.relayName,
    hop_distance: 0,
  };
}
