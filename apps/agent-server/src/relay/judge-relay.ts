import {
  hexToBytes,
  isAcceptablePublicKey,
  publicKeyToDidKey,
  verifyRelaySuccession,
} from "@agent/crypto";

/** A relay as this agent knows it: by the owner's configuration, or by what it joined before. */
export interface RelayPin {
  /** Absent for a key that the owner named, which binds every relay that answers. */
  readonly relayId?: string;
  /** 64 lower-case hex digits. */
  readonly publicKey: string;
}

/** What a relay states of itself. */
export interface StatedRelay {
  readonly relay_id: string;
  readonly public_key: string;
  readonly did: string;
  readonly succession?: readonly unknown[] | undefined;
}

/**
 * Whether the relay that answers is the pinned one: it has the pinned key, or a chain of its succession
 * leads from that key to its own. Refused with `relay.key_changed`; with `relay.identity_invalid` where
 * its did is not that of its key, because tokens are made for the did.
 */
export function judgeRelay(
  pins: readonly RelayPin[],
  stated: StatedRelay,
):
  | { readonly ok: true }
  | { readonly ok: false; readonly code: "relay.identity_invalid" | "relay.key_changed" } {
  if (!isOwnDid(stated)) return { ok: false, code: "relay.identity_invalid" };
  return pins.every((pin) => isPinned(pin, stated))
    ? { ok: true }
    : { ok: false, code: "relay.key_changed" };
}

function isOwnDid({ public_key, did }: StatedRelay): boolean {
  if (!/^[0-9a-f]{64}$/.test(public_key)) return false;
  const key = hexToBytes(public_key);
  return isAcceptablePublicKey(key) && publicKeyToDidKey(key) === did;
}

function isPinned(pin: RelayPin, { relay_id, public_key, succession = [] }: StatedRelay): boolean {
  // Another relay at the same address, as after one in memory has started anew: only a named key bars it.
  if (pin.relayId !== undefined && pin.relayId !== relay_id) return true;
  if (pin.publicKey === public_key) return true;
  const chain = verifyRelaySuccession(succession, { relayId: relay_id });
  if (!chain.ok || chain.publicKeys.at(-1) !== public_key) return false;
  return chain.publicKeys.includes(pin.publicKey);
}
