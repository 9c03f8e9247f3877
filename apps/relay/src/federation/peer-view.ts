import { asMicro, fromMicro } from "@agent/budget";
import type { PeerEntry, PendingPeer } from "@agent/federation-protocol";
import type { FederationPeer } from "@agent/wire";
import { clearingBalance } from "../budget/clearing.ts";
import type { FederationPeerRow } from "../storage/tables/federation.ts";
import { scoreOf, UNKNOWN } from "../trust/levels.ts";
import { findTrust } from "../trust/store.ts";
import type { FederationServices } from "./federation.ts";
import { reservedFor } from "./reserved-store.ts";
import { defaultedBy } from "./inbound-store.ts";
import { lifeOf } from "./peer-life.ts";

type Needs = Pick<FederationServices, "storage" | "identity">;

/** A peer as other peers see it. */
export async function peerEntry(
  { storage, identity }: Needs,
  row: FederationPeerRow,
): Promise<PeerEntry> {
  const trust = await findTrust(storage.read, identity.relayId, row.relay_id);
  return {
    relay_id: row.relay_id,
    public_key: row.public_key,
    endpoint_url: row.endpoint_url,
    display_name: row.display_name,
    state: row.state,
    trust_score: scoreOf(trust?.trust_level ?? UNKNOWN),
    agent_count: row.agent_count,
    last_heartbeat_at: row.last_heartbeat_at,
    missed_heartbeats: row.missed_heartbeats,
  };
}

/** A peer as this relay's operator sees it. */
export async function operatorView(
  services: Needs,
  row: FederationPeerRow,
): Promise<FederationPeer> {
  return {
    ...(await peerEntry(services, row)),
    credit_limit: fromMicro(asMicro(row.credit_limit)),
    position: fromMicro(await clearingBalance(services.storage.read, row.relay_id)),
    reserved: fromMicro(await reservedFor(services.storage.read, row.relay_id)),
    defaulted: fromMicro(await defaultedBy(services.storage.read, row.relay_id)),
    features: [...lifeOf(row).features],
    incarnation: row.incarnation,
  };
}

/** A relay that has proposed and has yet to confirm. */
export function pendingView({ peer }: PendingPeer): FederationPeer {
  return {
    relay_id: peer.relayId,
    public_key: peer.publicKey,
    endpoint_url: peer.endpointUrl,
    display_name: peer.displayName,
    state: "pending",
    trust_score: scoreOf(UNKNOWN),
    agent_count: 0,
    last_heartbeat_at: null,
    missed_heartbeats: 0,
    credit_limit: 0,
    position: 0,
    reserved: 0,
    defaulted: 0,
    features: [...(peer.features ?? [])],
    incarnation: 0,
  };
}
