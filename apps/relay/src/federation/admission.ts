import { toMicro } from "@agent/budget";
import {
  creditAfterHandshake,
  followKey,
  initialCreditLimit,
  movePeer,
  NEW_PEER,
  type AdmissionPolicy,
  type Introduction,
  type PeerPin,
  type PeerStanding,
  type StatedKey,
} from "@agent/federation-protocol";
import type { Config } from "../config.ts";
import type { Reader, Tx } from "../storage/storage.ts";
import type { FederationPeerRow } from "../storage/tables/federation.ts";
import { pinOf, rowWithPin } from "./follow-peer-key.ts";
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
 * As `standingOf`, for a relay that stated its key: one that has come to it from the key on record
 * counts as known under it.
 */
export async function standingUnder(
  read: Reader,
  stated: StatedKey,
): Promise<Omit<PeerStanding, "self"> & Required<Pick<Introduction, "succession">>> {
  const row = await findPeer(read, stated.agent_id);
  const standing = await standingOf(read, stated.agent_id);
  const followed = row === undefined ? undefined : followKey(pinOf(row), stated);
  if (standing.known === null || !followed?.ok) return { ...standing, succession: [] };
  const { publicKey, succession } = followed.pin;
  return { ...standing, known: { ...standing.known, publicKey }, succession };
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
    admitted: 0,
    succession: "[]",
  };
  const life = known === undefined ? NEW_PEER : lifeOf(known);
  const after = rowWith(
    {
      ...rowWithPin(before, pinAfter(before, peer)),
      endpoint_url: peer.endpointUrl,
      display_name: peer.displayName,
      admitted: added || trusted.allowed ? 1 : before.admitted,
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

/** A key only moves on from the one on record, which may have moved since the peer was admitted. */
function pinAfter(before: FederationPeerRow, peer: Introduction): PeerPin {
  const pin = pinOf(before);
  const { relayId: agent_id, publicKey: public_key, succession } = peer;
  const followed = followKey(pin, { agent_id, public_key, succession });
  return followed.ok ? followed.pin : pin;
}
