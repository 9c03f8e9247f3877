import { fromMicro, toDollars } from "@agent/budget";
import type { PendingPeer } from "@agent/federation-protocol/peering";
import type { FederationPeer, PeerEntry } from "@agent/wire";
import { getClearingBalance } from "../../budget/post-clearing.ts";
import { DAY_MS } from "../../clock/durations.ts";
import type { FederationPeerRow } from "../../storage/tables/federation.ts";
import { scoreOfLevel, UNKNOWN } from "../../trust/levels.ts";
import { findTrust } from "../../trust/store.ts";
import type { FederationServices } from "../federation-services.ts";
import { getReservedAmount } from "../settlement/reserved-store.ts";
import { getPeerExposure } from "../exposure/undecided-store.ts";
import { countPeerTasks } from "./traffic-store.ts";
import { toPeerRecord } from "./peer-state.ts";

type PeerEntryServices = Pick<FederationServices, "storage" | "identity">;
type PeerViewServices = PeerEntryServices & Pick<FederationServices, "runtime">;

/** Counts the tasks that went to each peer or came from it in the last 24 hours. */
export const countTrafficOfDay = ({ storage, runtime }: PeerViewServices) =>
  countPeerTasks(storage.read, runtime.now() - DAY_MS);

/** Builds the view of a peer for other peers. */
export async function buildPeerEntry(
  { storage, identity }: PeerEntryServices,
  row: FederationPeerRow,
): Promise<PeerEntry> {
  const trust = await findTrust(storage.read, identity.relayId, row.relay_id);
  return {
    relay_id: row.relay_id,
    public_key: row.public_key,
    endpoint_url: row.endpoint_url,
    display_name: row.display_name,
    state: row.state,
    trust_score: scoreOfLevel(trust?.trust_level ?? UNKNOWN),
    agent_count: row.agent_count,
    last_heartbeat_at: row.last_heartbeat_at,
    missed_heartbeats: row.missed_heartbeats,
  };
}

/** Builds the view of a peer for the operator; many share one count of the traffic of all. */
export async function buildPeerView(
  services: PeerViewServices,
  row: FederationPeerRow,
  traffic?: ReadonlyMap<string, number>,
): Promise<FederationPeer> {
  const { features, forwards } = toPeerRecord(row);
  const exposure = await getPeerExposure(services.storage.read, row.relay_id);
  return {
    ...(await buildPeerEntry(services, row)),
    credit_limit: toDollars(row.credit_limit),
    position: fromMicro(await getClearingBalance(services.storage.read, row.relay_id)),
    reserved: fromMicro(await getReservedAmount(services.storage.read, row.relay_id)),
    defaulted: fromMicro(exposure.defaulted),
    undecided: fromMicro(exposure.undecided),
    refused: fromMicro(exposure.refused),
    forwards: {
      latest: forwards.length,
      failed: forwards.filter((succeeded) => !succeeded).length,
    },
    features: [...features],
    incarnation: row.incarnation,
    tasks_24h: (traffic ?? (await countTrafficOfDay(services))).get(row.relay_id) ?? 0,
  };
}

/** Builds the view of a relay that has proposed and not yet confirmed. */
export function toPendingPeerView({ peer }: PendingPeer): FederationPeer {
  return {
    relay_id: peer.relayId,
    public_key: peer.publicKey,
    endpoint_url: peer.endpointUrl,
    display_name: peer.displayName,
    state: "pending",
    trust_score: scoreOfLevel(UNKNOWN),
    agent_count: 0,
    last_heartbeat_at: null,
    missed_heartbeats: 0,
    credit_limit: 0,
    position: 0,
    reserved: 0,
    defaulted: 0,
    undecided: 0,
    refused: 0,
    features: [...(peer.features ?? [])],
    incarnation: 0,
    tasks_24h: 0,
  };
}
