import {
  followKey,
  type PeerPin,
  type RelayIdentity,
  RelayIdentitySchema,
} from "@agent/federation-protocol";
import { limits } from "@agent/wire";
import * as v from "valibot";
import type { FederationPeerRow } from "../storage/tables/federation.ts";
import { callPeer, type PeerAddress, type PeerCaller } from "./call-peer.ts";
import type { FederationServices } from "./federation.ts";
import { findPeer, movePeerKey } from "./peer-store.ts";

/** What the relay at an address says of itself; undefined when it does not answer as one. */
export async function readIdentity(
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

/** The key of a peer's row, as the rules of its succession know it. */
export function pinOf({ relay_id, public_key, succession }: FederationPeerRow): PeerPin {
  return {
    relayId: relay_id,
    publicKey: public_key,
    succession: JSON.parse(succession) as PeerPin["succession"],
  };
}

export function rowWithPin(row: FederationPeerRow, pin: PeerPin): FederationPeerRow {
  return { ...row, public_key: pin.publicKey, succession: JSON.stringify(pin.succession) };
}

/**
 * Judges what a peer signed by the key on record and, when that is not the key that signed, once more
 * by a newer one to which the peer's own document leads. Answers the peer as it is known then.
 */
export async function underPeerKey<Judged>(
  services: FederationServices,
  peer: FederationPeerRow,
  judge: (peer: FederationPeerRow) => Promise<Judged> | Judged,
  isOtherKey: (judged: Judged) => boolean,
): Promise<{ readonly peer: FederationPeerRow; readonly judged: Judged }> {
  const judged = await judge(peer);
  if (!isOtherKey(judged)) return { peer, judged };
  const moved = await followPeerKey(services, peer);
  return moved === undefined ? { peer, judged } : { peer: moved, judged: await judge(moved) };
}

/**
 * Moves the pin of a peer that has a new key; undefined when it has none. Strangers can cause the
 * question by a wrong signature, so a peer is asked once at a time and at most once a second.
 */
function followPeerKey(
  services: FederationServices,
  peer: FederationPeerRow,
): Promise<FederationPeerRow | undefined> {
  const { federation, runtime } = services;
  const now = runtime.now();
  const last = federation.keyQuestions.get(peer.relay_id);
  if (last !== undefined && now >= last.at && now - last.at < limits.federationKeyQuestionMs) {
    return last.answer;
  }
  const answer = askForKey(services, peer);
  federation.keyQuestions.set(peer.relay_id, { at: now, answer });
  return answer;
}

async function askForKey(
  services: FederationServices,
  peer: FederationPeerRow,
): Promise<FederationPeerRow | undefined> {
  const { storage, freezer, federation } = services;
  const identity = await readIdentity(services, peer);
  if (identity === undefined || identity.public_key === peer.public_key) return undefined;
  const followed = followKey(pinOf(peer), identity);
  if (!followed.ok) {
    federation.log.warn("federation.peer.key_refused", { relay_id: peer.relay_id });
    return undefined;
  }
  const { pin } = followed;
  // Nothing is stored while the relay is frozen; the peer is asked again after that.
  if (freezer.frozen() !== undefined) return rowWithPin(peer, pin);
  return storage.transaction(async (tx) => {
    const change = { relay_id: peer.relay_id, before: peer.public_key, public_key: pin.publicKey };
    const isMoved = await movePeerKey(tx, {
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
