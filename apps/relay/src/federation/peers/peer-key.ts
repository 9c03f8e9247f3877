import {
  updatePeerPin,
  type PeerPin,
  type RelayIdentity,
  RelayIdentitySchema,
} from "@agent/federation-protocol/peering";
import { limits } from "@agent/wire";
import * as v from "valibot";
import type { FederationPeerRow } from "../../storage/tables/federation.ts";
import { callPeer, type PeerAddress, type PeerCaller } from "../transport/call-peer.ts";
import type { FederationServices } from "../federation-services.ts";
import { findPeer, updatePeerKey } from "./peer-store.ts";

/**
 * Returns the identity that the relay at an address states; undefined when it does not answer as a
 * relay.
 */
export async function fetchIdentity(
  caller: PeerCaller,
  address: PeerAddress,
): Promise<RelayIdentity | undefined> {
  const asked = await callPeer(caller, address, {
    method: "GET",
    path: "/federation/v1/identity",
    timeoutMs: limits.federationProbeMs,
  });
  const read = v.safeParse(RelayIdentitySchema, asked.body);
  return read.success ? read.output : undefined;
}

/** Reads the key and its succession from a peer's row. */
export function toPeerPin({ relay_id, public_key, succession }: FederationPeerRow): PeerPin {
  return {
    relayId: relay_id,
    publicKey: public_key,
    succession: JSON.parse(succession) as PeerPin["succession"],
  };
}

export function withPin(row: FederationPeerRow, pin: PeerPin): FederationPeerRow {
  return { ...row, public_key: pin.publicKey, succession: JSON.stringify(pin.succession) };
}

/**
 * Checks a peer's signature by the key on record and, if another key signed, once more by a newer key
 * that the peer's identity document proves. Returns the peer with the key that is known then.
 */
export async function verifyWithPeerKey<Checked>(
  services: FederationServices,
  peer: FederationPeerRow,
  check: (peer: FederationPeerRow) => Promise<Checked> | Checked,
  isOtherKey: (checked: Checked) => boolean,
): Promise<{ readonly peer: FederationPeerRow; readonly checked: Checked }> {
  const checked = await check(peer);
  if (!isOtherKey(checked)) return { peer, checked };
  const moved = await followPeerKey(services, peer);
  return moved === undefined ? { peer, checked } : { peer: moved, checked: await check(moved) };
}

/**
 * Advances the pinned key of a peer; undefined if the peer has no new one. Strangers can trigger this with
 * invalid signatures, so a peer is sent at most one request per second.
 */
function followPeerKey(
  services: FederationServices,
  peer: FederationPeerRow,
): Promise<FederationPeerRow | undefined> {
  const { federation, runtime } = services;
  const now = runtime.now();
  const { keyLookups } = federation;
  for (const [relayId, { at }] of keyLookups) {
    if (now < at || now - at >= limits.federationKeyLookupMs) keyLookups.delete(relayId);
  }
  const last = keyLookups.get(peer.relay_id);
  if (last !== undefined) return last.answer;
  const answer = fetchPeerKey(services, peer);
  keyLookups.set(peer.relay_id, { at: now, answer });
  return answer;
}

async function fetchPeerKey(
  services: FederationServices,
  peer: FederationPeerRow,
): Promise<FederationPeerRow | undefined> {
  const { storage, freezer, federation } = services;
  const identity = await fetchIdentity(services, peer);
  if (identity === undefined || identity.public_key === peer.public_key) return undefined;
  const followed = updatePeerPin(toPeerPin(peer), identity);
  if (!followed.ok) {
    federation.log.warn("federation.peer.key_refused", { relay_id: peer.relay_id });
    return undefined;
  }
  const { pin } = followed;
  // A frozen relay stores nothing; the peer is asked again later.
  if (freezer.frozen() !== undefined) return withPin(peer, pin);
  return storage.transaction(async (tx) => {
    const change = { relay_id: peer.relay_id, before: peer.public_key, public_key: pin.publicKey };
    const isMoved = await updatePeerKey(tx, {
      ...change,
      succession: JSON.stringify(pin.succession),
    });
    if (isMoved) {
      federation.log.info("federation.peer.key_changed", {
        relay_id: peer.relay_id,
        steps: pin.succession.length,
      });
    }
    return findPeer(tx, peer.relay_id);
  });
}
