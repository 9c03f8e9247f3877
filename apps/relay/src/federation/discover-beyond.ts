import { fromMicro } from "@agent/budget";
import { hexToBytes, publicKeyToDidKey } from "@agent/crypto";
import type { KnownAgent } from "@agent/federation-protocol";
import type { Answer, DiscoveryEntry, Operations, QueryOf } from "@agent/wire";
import { encodeCursor } from "../http/cursor.ts";
import type { Caller } from "../identity/caller.ts";
import { BLOCKED, levelName, scoreOf, UNKNOWN } from "../trust/levels.ts";
import { findTrust } from "../trust/store.ts";
import { discoverRemote, findRemote } from "./discover-remote.ts";
import type { FederationServices } from "./federation.ts";
import { priceOfRemote } from "./remote-candidates.ts";

interface Page {
  readonly query: QueryOf<Operations["discover"]>;
  readonly caller: Caller;
  /** What this relay knows itself: no more of that follows. */
  readonly agents: readonly DiscoveryEntry[];
  readonly after: string | undefined;
  readonly room: number;
}

/** Cursors among other relays' agents, which come behind all of this relay's own. */
const beyond = "~";

/** The rest of a page of discovery, with agents of other relays (specification, "Discovery entry"). */
export async function discoverBeyond(
  services: FederationServices,
  { query, caller, agents, after = "", room }: Page,
): Promise<Answer<Operations["discover"]>> {
  const { capability, q } = query;
  const last = after.startsWith(beyond) ? after.slice(beyond.length) : "";
  const remote = await discoverRemote(services, { capability, q });
  const rest = remote.filter(({ agent_id }) => agent_id > last);
  const shown = rest.slice(0, room);
  const required = capability === undefined ? [] : [capability];
  const entries = await Promise.all(
    shown.map((agent) => entryOf(services, agent, required, caller)),
  );
  const more = rest.length > shown.length ? shown : [];
  return {
    status: 200,
    body: {
      agents: [...agents, ...entries],
      next_cursor: encodeCursor(more, more.length, ({ agent_id }) => `${beyond}${agent_id}`),
    },
  };
}

/** One agent of another relay. */
export async function remoteEntry(
  services: FederationServices,
  agentId: string,
  caller: Caller,
): Promise<DiscoveryEntry | undefined> {
  const known = await findRemote(services, agentId);
  return known && entryOf(services, known, [], caller);
}

/** What a peer told, without what only this relay can know: how to reach it, how it is trusted. */
async function entryOf(
  { storage }: FederationServices,
  agent: KnownAgent,
  required: readonly string[],
  caller: Caller,
): Promise<DiscoveryEntry> {
  const own =
    caller.kind === "agent"
      ? await findTrust(storage.read, caller.agentId, agent.agent_id)
      : undefined;
  const online = agent.availability === 1;
  const price = priceOfRemote(agent, required);
  return {
    agent_id: agent.agent_id,
    public_key: agent.public_key,
    did: agent.public_key === null ? null : publicKeyToDidKey(hexToBytes(agent.public_key)),
    endpoint_url: null,
    capabilities: agent.capabilities,
    metadata: { name: agent.name, description: agent.description },
    trust_level: levelName(own?.trust_level ?? levelAt(agent.trust)),
    cost:
      price === null || (agent.pricing.length === 0 && agent.cost === null)
        ? null
        : fromMicro(price),
    availability: agent.availability,
    online,
    freshness: online ? "awake" : "dormant",
    pricing: agent.pricing,
    source_relay: agent.source_relay,
    relay_name: agent.relay_name,
    hop_distance: agent.hop_distance,
    ...(agent.id_conflict === true && { id_conflict: true as const }),
  };
}

/** The trust of a whole way as a level: the highest whose score it reaches. */
function levelAt(trust: number): number {
  for (let level = 4; level > BLOCKED; level -= 1) {
    if (trust >= scoreOf(level)) return level;
  }
  return UNKNOWN;
}
