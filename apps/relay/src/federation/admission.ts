import { toMicro } from "@agent/budget";
import {
  creditAfterHandshake,
  initialCreditLimit,
  movePeer,
  NEW_PEER,
  type AdmissionPolicy,
  type Introduction,
  type PeerStanding,
} from "@agent/federation-protocol";
import type { Config } from "../config.ts";
import type { Reader, Tx } from "../storage/storage.ts";
import type { FederationPeerRow } from "../storage/tables/federation.ts";
import { lifeOf, rowWith } from "./peer-life.ts";
import { findPeer, listPeers, putPeer } from "./peer-store.ts";

/** Whom this relay takes as peers. */
export function policyOf({ federation }: Config): AdmissionPolicy {
  return {
    blocked: federation.blockedPeers,
    allowed: federation.allowedPeers ?? null,
    maxPeers: federation.maxPeers,
  };
}

/** What this relay knows of one that wants to peer. */
export async function standingOf(
  read: Reader,
  relayId: string,
): Promise<Omit<PeerStanding, "self">> {
  const known = await findPeer(read, relayId);
  const live = await listPeers(read);
  return {
    known: known === undefined ? null : { ...lifeOf(known), publicKey: known.public_key },
    livePeers: live.length,
  };
}

/**
 * Makes a peer of a relay whose handshake is complete. Peering is not credit: only one that this
 * operator added or allowed by name gets any (docs/decisions.md, 7); what a former peering left stays.
 */
export async function activatePeer(
  tx: Tx,
  config: Config,
  peer: Introduction,
  { added }: { readonly added: boolean },
): Promise<FederationPeerRow> {
  const { allowedPeers, autoAcceptPeers, creditLimit } = config.federation;
  const known = await findPeer(tx, peer.relayId);
  const standard = toMicro(creditLimit);
  const trusted = {
    added,
    allowed: allowedPeers?.includes(peer.relayId) === true,
    autoAccept: autoAcceptPeers,
  };
  const initial = initialCreditLimit<number>(trusted, { standard, none: 0 });
  const before: FederationPeerRow = known ?? {
    relay_id: peer.relayId,
    public_key: peer.publicKey,
    endpoint_url: peer.endpointUrl,
    display_name: peer.displayName,
    state: "pending",
    credit_limit: 0,
    missed_heartbeats: 0,
    last_timestamp: 0,
    last_heartbeat_at: null,
    agent_count: 0,
    forwards: "[]",
    operator_removal: null,
    features: "[]",
    incarnation: 0,
    succession: "[]",
  };
  const life = known === undefined ? NEW_PEER : lifeOf(known);
  const after = rowWith(
    {
      ...before,
      endpoint_url: peer.endpointUrl,
      display_name: peer.displayName,
      credit_limit: creditAfterHandshake(
        known === undefined
          ? null
          : { creditLimit: known.credit_limit, operatorRemoval: known.operator_removal },
        { added, initial },
      ),
    },
    movePeer(life, {
      type: "confirmed",
      byOperator: added,
      features: peer.features ?? [],
    }),
  );
  await putPeer(tx, after);
  return after;
}
