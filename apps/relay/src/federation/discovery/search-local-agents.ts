import { fromMicro, ZERO } from "@agent/budget";
import { isAgentIdOfKey, isKeyDerivedId } from "@agent/crypto";
import type { AgentQuery, RemoteAgent } from "@agent/federation-protocol/discovery";
import { HALF_SCORE_LATENCY_MS } from "@agent/routing-semiring";
import { limits, type ListingBody } from "@agent/wire";
import { getSuccession } from "../../agents/keys/get-succession.ts";
import { listOfferedCapabilities } from "../../agents/discovery/listing.ts";
import { getAvailability, isOnline } from "../../agents/discovery/online.ts";
import { listVisibleProfiles } from "../../agents/discovery/discovery-store.ts";
import type { ProfileRow } from "../../agents/discovery/profile-store.ts";
import { calculateTaskPrice } from "../../routing/price.ts";
import type { Reader } from "../../storage/storage.ts";
import { levelName, scoreOfLevel, UNKNOWN } from "../../trust/levels.ts";
import type { FederationServices } from "../federation-services.ts";
import { parseListing } from "../../agents/discovery/parse-listing.ts";

type OwnEntry = RemoteAgent & { readonly public_key: string };

type SearchServices = Pick<
  FederationServices,
  "storage" | "runtime" | "connections" | "identity" | "config"
>;

/** Searches the agents of this relay that peers may see. */
export async function searchLocalAgents(
  services: SearchServices,
  { capability = "", q = "", limit = limits.maxPageSize }: AgentQuery,
): Promise<RemoteAgent[]> {
  const { rows } = await listVisibleProfiles(services.storage.read, {
    reader: "",
    capability,
    text: q,
    after: "",
    limit,
  });
  const entries = rows.flatMap((row) =>
    toOwnEntries(services, row, capability === "" ? [] : [capability]),
  );
  return Promise.all(entries.map((entry) => withSuccession(services.storage.read, entry)));
}

/** Adds the records that prove the key of a version 8 id, where the id alone does not. */
async function withSuccession(read: Reader, entry: OwnEntry): Promise<RemoteAgent> {
  const { agent_id, public_key } = entry;
  if (!isKeyDerivedId(agent_id) || isAgentIdOfKey(agent_id, public_key)) return entry;
  const history = await getSuccession(read, agent_id);
  if (history.ok === false || history.body.chain.length === 0) return entry;
  return { ...entry, succession: history.body.chain };
}

/** Builds the entry of an agent that peers see, without its endpoint; none for an agent that they cannot use. */
function toOwnEntries(
  { runtime, connections, identity, config }: SearchServices,
  row: ProfileRow,
  required: readonly string[],
): OwnEntry[] {
  // Without a key its receipts cannot be verified.
  if (row.public_key === null) return [];
  const listing = parseListing(row.listing);
  const price = listing === undefined ? ZERO : calculateTaskPrice(listing, required);
  // A peer must not send a task here that this relay would refuse.
  if (price === null) return [];
  const metadata = JSON.parse(row.metadata) as { name?: unknown };
  const level = row.payers_level ?? UNKNOWN;
  const online = isOnline(row, connections, runtime.now());
  return [
    {
      agent_id: row.agent_id,
      public_key: row.public_key,
      name: typeof metadata.name === "string" ? metadata.name.slice(0, limits.shortText) : "",
      description: listing?.description ?? "",
      capabilities: listOfferedCapabilities(
        row,
        row.listing === null ? undefined : { body: row.listing },
      ),
      pricing: listing?.pricing ?? [],
      trust_level: levelName(level),
      trust: scoreOfLevel(level),
      cost: listing === undefined ? null : fromMicro(price),
      availability: getAvailability(online, listing),
      latency_ms: expectedLatencyMs(row, listing),
      source_relay: identity.relayId,
      relay_name: config.identity.relayName,
      hop_distance: 0,
    },
  ];
}

/** Returns the measured latency, otherwise the promised one, otherwise the default. */
function expectedLatencyMs(row: ProfileRow, listing: ListingBody | undefined): number {
  const measured = row.paid_successes ? (row.paid_latency_ms ?? 0) / row.paid_successes : undefined;
  return Math.min(measured ?? listing?.sla?.max_latency_ms ?? HALF_SCORE_LATENCY_MS, 1e9);
}
