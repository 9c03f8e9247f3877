import { toMicro, ZERO, type Micro } from "@agent/budget";
import {
  computeCreditAfterHandshake,
  updatePeerPin,
  selectInitialCreditLimit,
  applyPeerEvent,
  NEW_PEER,
  type AdmissionPolicy,
  type RelayDescription,
  type PeerPin,
  type AdmissionInput,
  type ReportedKey,
} from "@agent/federation-protocol/peering";
import type { Config } from "../../config/config.ts";
import type { Services } from "../../services.ts";
import type { Reader, Tx } from "../../storage/storage.ts";
import type { FederationPeerRow } from "../../storage/tables/federation.ts";
import { toPeerPin, withPin } from "../peers/peer-key.ts";
import { toPeerRecord, withPeerRecord } from "../peers/peer-state.ts";
import { findPeer, listPeers, savePeer } from "../peers/peer-store.ts";
import { recordPeerChange } from "../peers/record-peer-change.ts";

/** Builds the rules by which this relay accepts peers. */
export function buildAdmissionPolicy({ federation }: Config): AdmissionPolicy {
  return {
    blocked: federation.blockedPeers,
    allowed: federation.allowedPeers ?? null,
    maxPeers: federation.maxPeers,
  };
}

/** Loads the facts about a relay that wants to peer. */
export async function loadAdmissionInput(
  read: Reader,
  relayId: string,
): Promise<Omit<AdmissionInput, "self">> {
  const known = await findPeer(read, relayId);
  const live = await listPeers(read);
  return {
    known: known === undefined ? null : { ...toPeerRecord(known), publicKey: known.public_key },
    livePeers: live.length,
  };
}

/**
 * Does the same for a relay that stated its key. A relay whose succession leads from the key on record
 * to that key counts as known under it.
 */
export async function loadAdmissionInputUnderKey(
  read: Reader,
  stated: ReportedKey,
): Promise<Omit<AdmissionInput, "self"> & Required<Pick<RelayDescription, "succession">>> {
  const row = await findPeer(read, stated.agent_id);
  const admissionInput = await loadAdmissionInput(read, stated.agent_id);
  const followed = row === undefined ? undefined : updatePeerPin(toPeerPin(row), stated);
  if (admissionInput.known === null || !followed?.ok) return { ...admissionInput, succession: [] };
  const { publicKey, succession } = followed.pin;
  return { ...admissionInput, known: { ...admissionInput.known, publicKey }, succession };
}

/**
 * Activates a peer whose handshake is complete. Peering does not include credit: only a relay that this
 * operator added or allowed by name gets any (docs/decisions.md, 7). The balance of an earlier peering is
 * kept.
 */
export async function activatePeer(
  tx: Tx,
  { config, runtime }: Pick<Services, "config" | "runtime">,
  peer: RelayDescription,
  { added }: { readonly added: boolean },
): Promise<FederationPeerRow> {
  const { allowedPeers, autoAcceptPeers, creditLimit } = config.federation;
  const known = await findPeer(tx, peer.relayId);
  const standard = toMicro(creditLimit);
  const admissionGrounds = {
    added,
    allowed: allowedPeers?.includes(peer.relayId) === true,
    autoAccept: autoAcceptPeers,
  };
  const initial = selectInitialCreditLimit<Micro>(admissionGrounds, { standard, none: ZERO });
  const before: FederationPeerRow = known ?? {
    relay_id: peer.relayId,
    public_key: peer.publicKey,
    endpoint_url: peer.endpointUrl,
    display_name: peer.displayName,
    state: "pending",
    credit_limit: ZERO,
    credit_set: 0,
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
  const life = known === undefined ? NEW_PEER : toPeerRecord(known);
  const after = withPeerRecord(
    {
      ...withPin(before, nextPin(before, peer)),
      endpoint_url: peer.endpointUrl,
      display_name: peer.displayName,
      admitted: added || admissionGrounds.allowed ? 1 : before.admitted,
      credit_limit: computeCreditAfterHandshake(
        known === undefined
          ? null
          : { creditLimit: known.credit_limit, isSetByOperator: known.credit_set === 1 },
        { added, initial },
      ),
    },
    applyPeerEvent(life, {
      type: "confirmed",
      byOperator: added,
      features: peer.features ?? [],
    }),
  );
  await savePeer(tx, after);
  await recordPeerChange(tx, runtime.now(), known, after);
  return after;
}

/** A key only advances from the one on record, which may have changed since the peer was admitted. */
function nextPin(before: FederationPeerRow, peer: RelayDescription): PeerPin {
  const pin = toPeerPin(before);
  const { relayId: agent_id, publicKey: public_key, succession } = peer;
  const followed = updatePeerPin(pin, { agent_id, public_key, succession });
  return followed.ok ? followed.pin : pin;
}
