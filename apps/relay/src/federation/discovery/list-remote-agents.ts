import { fromMicro } from "@agent/budget";
import { hexToDidKey } from "@agent/crypto";
import type { KnownAgent } from "@agent/federation-protocol/discovery";
import type { Answer, DiscoveryEntry, Operations, QueryOf } from "@agent/wire";
import { encodeCursorKey } from "../../http/paging/cursor.ts";
import { cutPage } from "../../http/paging/cut-page.ts";
import { toReaderId, type Caller } from "../../identity/caller.ts";
import type { AskerRecord } from "../../routing/candidates/weigh-experience.ts";
import { BLOCKED, levelName, scoreOfLevel, UNKNOWN } from "../../trust/levels.ts";
import { toTrustBasisMember } from "../../trust/trust-basis.ts";
import { PAST_ALL } from "../../agents/discovery/places/page-position.ts";
import { findOwnRecords } from "./find-own-records.ts";
import { searchRemoteAgents, findRemoteAgent } from "./search-remote-agents.ts";
import type { FederationServices } from "../federation-services.ts";
import { calculateRemotePrice } from "./list-remote-candidates.ts";

interface RemotePage {
  readonly query: QueryOf<Operations["discover"]>;
  readonly caller: Caller;
  /** The agents of this relay; no further page of them follows. */
  readonly agents: readonly DiscoveryEntry[];
  readonly after: string | undefined;
  readonly limit: number;
}

/** Fills the rest of a page of discovery with remote agents (specification, "Discovery entry"). */
export async function listRemoteAgents(
  services: FederationServices,
  { query, caller, agents, after = "", limit }: RemotePage,
): Promise<Answer<Operations["discover"]>> {
  const { capability, q } = query;
  const last = after.startsWith(PAST_ALL) ? after.slice(PAST_ALL.length) : "";
  const remote = await searchRemoteAgents(services, { capability, q });
  const remaining = remote.filter(({ agent_id }) => agent_id > last);
  const { rows: shown, isLast } = cutPage(remaining, limit);
  const required = capability === undefined ? [] : [capability];
  const records = await findOwnRecords(services.storage.read, toReaderId(caller), shown);
  const entries = shown.map((agent) => toDiscoveryEntry(services, agent, required, records));
  // On a page that the agents of this relay fill, the next one begins with the first remote agent.
  const behind = `${PAST_ALL}${shown.at(-1)?.agent_id ?? last}`;
  return {
    status: 200,
    body: {
      agents: [...agents, ...entries],
      next_cursor: isLast ? null : encodeCursorKey(behind),
    },
  };
}

/** Returns one agent of another relay. */
export async function findRemoteEntry(
  services: FederationServices,
  agentId: string,
  caller: Caller,
): Promise<DiscoveryEntry | undefined> {
  const known = await findRemoteAgent(services, agentId);
  if (known === undefined) return undefined;
  const records = await findOwnRecords(services.storage.read, toReaderId(caller), [known]);
  return toDiscoveryEntry(services, known, [], records);
}

/** Omits the members that only this relay can know: how to reach the agent, and how far it is trusted. */
function toDiscoveryEntry(
  { config }: FederationServices,
  agent: KnownAgent,
  required: readonly string[],
  records: ReadonlyMap<string, AskerRecord>,
): DiscoveryEntry {
  const own = records.get(agent.agent_id);
  const online = agent.availability === 1;
  const price = calculateRemotePrice(agent, required);
  return {
    agent_id: agent.agent_id,
    public_key: agent.public_key,
    did: agent.public_key === null ? null : hexToDidKey(agent.public_key),
    endpoint_url: null,
    capabilities: agent.capabilities,
    metadata: { name: agent.name, description: agent.description },
    trust_level: levelName(own?.trust_level ?? levelForScore(agent.trust)),
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
    ...toTrustBasisMember(config),
    ...(agent.id_conflict === true && { id_conflict: true as const }),
  };
}

/** Converts the trust of a whole route to a level: the highest whose score it reaches. */
function levelForScore(trust: number): number {
  for (let level = 4; level > BLOCKED; level -= 1) {
    if (trust >= scoreOfLevel(level)) return level;
  }
  return UNKNOWN;
}
