import { type RelaySuccessionRecord, findStepsAfter, verifyRelaySuccession } from "@agent/crypto";
import { type FederationRefusal, refuse } from "../refusals.ts";

/** The pinned key of a relay and the steps that led to it since the first contact. */
export interface PeerPin {
  readonly relayId: string;
  /** 64 hex digits. */
  readonly publicKey: string;
  /** Oldest first; empty as long as the relay has its first pinned key. */
  readonly succession: readonly RelaySuccessionRecord[];
}

/** The key members of a relay's identity document. */
export interface ReportedKey {
  readonly agent_id: string;
  readonly public_key: string;
  readonly succession?: readonly unknown[] | undefined;
}

/**
 * Updates a relay's pin from its identity document. The stated chain must lead from the pinned key to the
 * stated one, so a pin only moves forward and only with a signature by the pinned key. Refused: another
 * relay's document; a chain that is forged, branches off or omits the pinned key (`peer.key_changed`).
 */
export function updatePeerPin(
  pin: PeerPin,
  { agent_id, public_key, succession = [] }: ReportedKey,
): { readonly ok: true; readonly pin: PeerPin } | FederationRefusal<"peer.key_changed"> {
  const { relayId, publicKey } = pin;
  if (agent_id !== relayId) return refuse("peer.key_changed");
  if (public_key === publicKey) return { ok: true, pin };
  const steps = findStepsAfter(succession, { relayId, publicKey });
  if (steps === null) return refuse("peer.key_changed");
  const known = [...pin.succession, ...steps];
  const chain = verifyRelaySuccession(known, { relayId });
  return chain.ok && chain.publicKeys.at(-1) === public_key
    ? { ok: true, pin: { relayId, publicKey: public_key, succession: known } }
    : refuse("peer.key_changed");
}

/** Lists every key that a relay was known by, the pinned one last. */
export function listPinnedKeys({ relayId, publicKey, succession }: PeerPin): readonly string[] {
  const chain = verifyRelaySuccession(succession, { relayId });
  return chain.ok ? chain.publicKeys : [publicKey];
}
