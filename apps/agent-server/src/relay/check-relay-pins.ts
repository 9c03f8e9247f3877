import {
  hexToBytes,
  isAcceptablePublicKey,
  publicKeyToDidKey,
  verifyRelaySuccession,
  HEX_OF_32_BYTES,
} from "@agent/crypto";

/** The expected identity of a relay, from the owner's configuration or an earlier join. */
export interface RelayPin {
  /** Absent for a key that the owner configured, which applies to every relay. */
  readonly relayId?: string;
  /** 64 lower-case hex digits. */
  readonly publicKey: string;
}

/** The identity that a relay states. */
export interface StatedRelay {
  readonly relay_id: string;
  readonly public_key: string;
  readonly did: string;
  readonly succession?: readonly unknown[] | undefined;
}

/**
 * Checks that the answering relay is the pinned one: its key is the pinned key, or its succession
 * leads from that key to its own. Refuses with `relay.key_changed`, or with
 * `relay.identity_invalid` when its DID does not belong to its key, because tokens are issued for
 * the DID.
 */
export function checkRelayPins(
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
  if (!HEX_OF_32_BYTES.test(public_key)) return false;
  const key = hexToBytes(public_key);
  return isAcceptablePublicKey(key) && publicKeyToDidKey(key) === did;
}

function isPinned(pin: RelayPin, { relay_id, public_key, succession = [] }: StatedRelay): boolean {
  // A different relay at the same address, such as a restarted in-memory one, is refused only by a
  // configured key.
  if (pin.relayId !== undefined && pin.relayId !== relay_id) return true;
  if (pin.publicKey === public_key) return true;
  const chain = verifyRelaySuccession(succession, { relayId: relay_id });
  if (!chain.ok || chain.publicKeys.at(-1) !== public_key) return false;
  return chain.publicKeys.includes(pin.publicKey);
}
